"""Good arguments by name, good calls of every public callable made of them, and what may be wrong with them."""

from __future__ import annotations

import inspect
import itertools
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import bough
from hostile.names import methods, public

__all__ = ["BAD", "ODD", "SAME", "Call", "good_calls", "machine", "wrong_arrays"]

UNTRIED = {
    "of_fresh": "trusts what it is given, for the package itself",
    "of_checked": "the same",
    "with_checked": "the same",
    "set_backend": "is for the whole process",
    "set_num_threads": "is for the whole process",
    "cache.clear": "empties the cache of the process",
    "cache.load": "takes keys that the package makes",
    "cache.store": "the same",
    "cuda.speeds": "needs a GPU",
    "form": "belongs to the package",
    "read": "belongs to the package",
    "record": "belongs to the package",
    "pivots": "belongs to the package",
}
OVER_SCALARS = ("Joint", "Body", "Constraint", "Side")
"""Contracts whose methods compute with scalars of any sort: only their constructors take what users write."""


def machine() -> bough.Model:
    """A free body, an arm with limits, a ball and a loop: what most functions take."""
    b = bough.Builder("machine")
    b.add("base", bough.joints.Free(), mass=2.0, inertia=(0.3, 0.2, 0.25))
    b.add(
        "arm",
        bough.joints.Revolute("y"),
        "base",
        at=(0.1, 0, 0),
        mass=1.0,
        inertia=0.1,
        lower=-2,
        upper=2,
        stiffness=1.0,
    )
    b.add("hand", bough.joints.Revolute("x"), "arm", at=(0.1, 0, 0), mass=1.0, inertia=0.1)
    b.add("ball", bough.joints.Spherical(), "arm", at=(0, 0, 0.3), mass=1.0, inertia=0.1)
    b.frame("tip", "ball", at=(0.1, 0, 0))
    b.loop("ring", bough.joints.Universal(), "hand", "tip", at=(0, 0, 0.3))
    return b.build()


@dataclass(frozen=True)
class Call:
    """A callable and arguments that are good; `parameters` are all the names it takes."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    spread: str | None
    parameters: tuple[str, ...]

    @property
    def last(self) -> str:
        """The last part of its name."""
        return self.name.removesuffix(" with options").rpartition(".")[2]

    def __call__(self, **changed: Any) -> Any:
        given = {**self.arguments, **changed}
        several = given.pop(self.spread, ()) if self.spread else ()
        return self.function(*several, **given)


def pool() -> dict[str, list[Any]]:
    """What may be given for an argument of some name, the likeliest first."""
    model, tree = machine(), bough.trees.Tree((0, 1, 1))
    q, v, three = bough.neutral(model), np.linspace(0.1, 0.4, model.nv), np.array([-1.0, 0.2, 0.1])
    H = np.array([[4.0, 1.0, 1.0], [1.0, 3.0, 0.0], [1.0, 0.0, 2.0]])
    system = bough.maximal.System(bodies=(2, 2), constraints=((0, 1, 1), (1, 2, 1)))
    mass, jacobian = np.tile(np.eye(2).ravel(), 2), np.ones(system.jacobian_size)
    n, rows = model.nbodies, len(model.constraint_names)
    chain = bough.trees.topologies.chain(2)
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    names = ["tip", "arm", "ball", "hand", "base", "ring", "rnea", "a", "pendulum", "new", "urdf"]
    known: dict[str, list[Any]] = {
        "model": [model, chain],
        "what": [model, "lower", tree],
        "q": [q, np.zeros(2)],
        "q0": [q],
        "q1": [q],
        "v": [v, three, np.zeros(2)],
        "a": [v],
        "tau": [v],
        "t": [0.5],
        "x": [three, np.ones(3)],
        "f_ext": [np.zeros((n, 6))],
        "loop_tau": [np.zeros(2)],
        "frame": ["tip"],
        "frames": ["tip", ("tip", "hand")],
        "reference": ["LOCAL"],
        "name": names,
        "names": [["rnea"], ["mass of hand"], ("tip",)],
        "more": [(), ("q",)],
        "touch": [bough.contact.Contacts([("tip", None)]).at([[0.0, 0.0, -0.1]], [0.0, 0.0, 1.0], mu=0.5)],
        "half_axes": [(0.1, 0.2, 0.3)],
        "purpose": ["collision"],
        "algorithm": ["rnea"],
        "mass": [1.0, mass],
        "com": [(0.0, 0.0, 0.1)],
        "inertia": [1.0],
        "rotational": [1.0],
        "at": [(0.0, 0.0, 0.1), bough.Placement()],
        "rpy": [(0.0, 0.0, 0.1)],
        "origin": [(0.0, 0.0, 0.1)],
        "rotation": [np.eye(3)],
        "axis": ["z", (0, 0, 1)],
        "axis1": ["x"],
        "axis2": ["y"],
        "pitch": [0.5],
        "gravity": [(0.0, 0.0, -1.0)],
        "points": [np.array([[0.0, 0, -0.1]]), three],
        "normals": [np.array([[0.0, 0.0, 1.0]])],
        "mu": [0.5],
        "restitution": [0.1],
        "gaps": [0.0],
        "dt": [0.01],
        "contacts": [bough.contact.Contacts([("ball", None)])],
        "pairs": [[("ball", None)]],
        "friction": ["pyramid", 0.1],
        "conditions": [bough.lcp.Conditions.contacts(1)],
        "A": [np.eye(3)],
        "b": [three, np.ones(6)],
        "f": [np.array([1.0, 0, 0])],
        "H": [H],
        "parents": [tree, (0, 1, 1)],
        "tree": [tree],
        "kind": ["ltdl", "gyro"],
        "of": ["tip"],
        "first": ["a"],
        "second": ["b"],
        "trajectory": [bough.Trajectory(model, [0.0], [q], [v])],
        "axes": [()],
        "packed": [bough.trees.ltdl(H, tree).packed, bough.maximal.ldlt(system, mass, jacobian).packed],
        "values": [np.ones(5), bough.identification.parameters(chain)[:10], bough.identification.parameters(model)],
        "numbers": [np.zeros(10)],
        "data": [tuple(np.outer(np.linspace(0.0, 1.0, 9), x) for x in ([1, 1], [1, 2], [2, 1], [1, 1]))],
        "matrix": [np.eye(4)],
        "i": [1],
        "n": [2],
        "m": [2],
        "levels": [2],
        "arity": [2],
        "dofs": [(1, 2, 1)],
        "system": [system],
        "jacobian": [jacobian, np.ones(2)],
        "compliance": [np.zeros(2)],
        "force": [np.ones(4), np.zeros(3)],
        "c": [np.zeros(2), np.zeros(1)],
        "bodies": [(2, 2), {"bob": bough.maximal.bodies.Particle(2.0)}],
        "constraints": [((0, 1, 1),), [((1,), 1)]],
        "free": [np.ones(6)],
        "factor": [bough.maximal.ldlt(system, mass, jacobian)],
        "auxiliary": [bough.maximal.Auxiliary(system, [((1,), 1)])],
        "placements": [bough.placements(model, q), np.eye(4), np.eye(4)[None]],
        "velocities": [np.zeros((n, 6))],
        "accelerations": [np.zeros((n, 6))],
        "forces": [np.zeros(rows)],
        "motions": [np.ones(6)],
        "motion": [np.ones(6)],
        "time": [0.0],
        "time_constant": [0.05],
        "tolerance": [1e-8],
        "iterations": [50],
        "multiplier": [np.zeros(6 * n - model.nv)],
        "multipliers": [np.zeros(20)],
        "reactions": [np.zeros((n, 6))],
        "size": [1.0, (1.0, 1.0, 1.0), ()],
        "radius": [1.0],
        "length": [1.0],
        "radii": [(1.0, 1.0, 1.0)],
        "density": [1.0],
        "quaternion": [(0.0, 0.0, 0.0, 1.0)],
        "joint": [bough.joints.Revolute("z"), "arm", "a"],
        "source": ["<robot name='r'><link name='b'/></robot>", "a"],
        "body": ["ball", "world", bough.maximal.bodies.Particle(1.0), "bob"],
        "parent": ["ball"],
        "predecessor": ["base", "a"],
        "successor": ["ball", "b"],
        "shape": ["sphere"],
        "other": ["b", "hand", bough.Inertia.sphere(1.0, mass=1.0)],
        "polynomial": [(0.0, 1.0)],
        "count": [1],
        "link": ["arm"],
        "cut": [("ring",)],
        "given": [()],
        "kinds": [("equality",)],
        "arrays": [(q, v, v)],
        "part": [bough.Inertia.sphere(0.1, mass=0.1)],
        "path": [folder / "x.urdf"],
        "format": ["urdf"],
        "armature": [0.1],
        "impulse": [np.zeros(3)],
        "rng": [1],
        "inner": [bough.Placement()],
        "constraint": ["rod", bough.maximal.constraints.Distance(1.0)],
        "ratio": [1.0],
        "function": [lambda x: x],
        "inverse": [True],
        "key": ["a" * 64],
        "content": [b"x"],
    }
    return known


def instances() -> dict[type, Callable[[], Any]]:
    """For a class with methods, what makes an object of it; anew each time where it can change."""
    values = pool()
    H, tree, system = values["H"][0], values["tree"][0], values["system"][0]
    bob = bough.maximal.Linkage(
        {"bob": bough.maximal.bodies.Particle(2.0)}, {"rod": (bough.maximal.constraints.Distance(1.0), "bob")}
    )
    conditions, model = values["conditions"][0], values["model"][0]

    def builder() -> bough.Builder:
        b = bough.Builder()
        for name in ("a", "b"):
            b.add(name, bough.joints.Revolute("z"), mass=1.0, inertia=1.0)
        return b

    lasting = [
        model,
        tree,
        bough.trees.ltdl(H, tree),
        bough.trees.TreeMatrix(np.ones(5), tree),
        system,
        values["factor"][0],
        bob,
        values["contacts"][0],
        conditions,
        bough.Placement(),
        bough.Inertia(1.0, (0, 0, 0), 1.0),
        values["auxiliary"][0],
        bough.function("rnea", model),
        bough.Parameters.of(model, ["mass of hand"]),
    ]
    made: dict[type, Callable[[], Any]] = {type(x): (lambda x=x: x) for x in lasting}
    return {**made, type(builder()): builder}


def good_calls(wanted: Collection[str] = ()) -> Iterator[Call | str]:
    """A good call of each public callable, or of those that are wanted, or its name where none was found."""
    values, made = pool(), instances()
    for name, thing in public().items():
        if wanted and name not in wanted:
            continue
        if _is_untried(name) or (inspect.isclass(thing) and issubclass(thing, BaseException)):
            continue
        yield from _found(name, lambda thing=thing: thing, values)
        if not inspect.isclass(thing) or {kind.__name__ for kind in thing.__mro__} & set(OVER_SCALARS):
            continue
        for method, held in methods(thing).items():
            if _is_untried(f"{name}.{method}"):
                continue
            if isinstance(held, staticmethod | classmethod):
                yield from _found(f"{name}.{method}", lambda t=thing, m=method: getattr(t, m), values)
            elif inspect.isfunction(held) and thing in made:
                yield from _found(f"{name}.{method}", lambda t=thing, m=method: getattr(made[t](), m), values)


def _is_untried(name: str) -> bool:
    return ".paper." in name or any(name.endswith(f".{ending}") for ending in UNTRIED)


def _found(name: str, bound: Callable[[], Any], values: dict[str, list[Any]]) -> Iterator[Call | str]:
    function = bound()
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    spread = next((key for key, p in parameters.items() if p.kind == p.VAR_POSITIONAL), None)
    keywords = [key for key, p in parameters.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    needed = [key for key in keywords if parameters[key].default is inspect.Parameter.empty]
    needed += [spread] if spread else []
    extras = [()] + [(key,) for key in keywords if key not in needed and key in values]
    for extra in extras:  # some need one of what may be left out
        keys = [*needed, *extra]
        for picked in itertools.islice(itertools.product(*(values.get(key, []) for key in keys)), 100):
            given = dict(zip(keys, picked, strict=True))
            call = Call(name, lambda *a, **k: bound()(*a, **k), given, spread, tuple(keywords))
            if _is_good(call):
                yield call
                yield from _with_options(call, values)
                return
    if parameters:
        yield name


def _with_options(call: Call, values: dict[str, list[Any]]) -> Iterator[Call]:
    """The same call with whatever may be given besides, as far as it stays good."""
    given = call
    for key in call.parameters:
        for value in values.get(key, []) if key not in call.arguments else []:
            more = replace(given, name=f"{call.name} with options", arguments={**given.arguments, key: value})
            if _is_good(more):
                given = more
                break
    if given is not call:
        yield given


def _is_good(call: Call) -> bool:
    try:
        call()
    except Exception:
        return False
    return True


BAD: dict[str, Any] = {
    "None": None,
    "text": "x",
    "bytes": b"x",
    "an object": object(),
    "a dictionary": {},
    "a set": {1},
    "a function": len,
    "complex": 1j,
    "a list of complex": [1j, 2j],
    "ragged": [[1.0], [1.0, 2.0]],
    "texts": ["a", "b"],
    "Nones": [None, None],
    "an empty list": [],
    "three": 3,
    "minus one": -1,
    "a half": 0.5,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "a huge integer": 10**400,
    "a truth value": True,
    "an array of NaN": np.full(3, np.nan),
    "objects": np.array([object(), object()]),
    "times": np.zeros(3, "m8[s]"),
    "lists of texts": [["a"], ["b"]],
}
"""Things that are wrong for most arguments."""


def wrong_arrays(a: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    """An array of floats with something wrong: values, shape, type."""
    for kind, value in (("NaN", np.nan), ("infinity", -np.inf), ("huge", 1e300), ("tiny", 1e-320), ("-0", -0.0)):
        if a.size:
            bad = np.array(a, dtype=float)
            bad.flat[rng.integers(a.size)] = value
            yield f"{kind} at one place", bad
        yield f"{kind} everywhere", np.full_like(a, value, dtype=float)
    yield "an axis less", a[0] if a.ndim else []
    yield "an axis more behind", a[..., np.newaxis]
    yield "one more", np.concatenate([a, a], axis=-1) if a.ndim else np.zeros(2)
    yield "one less", a[..., :-1] if a.ndim else None
    yield "transposed", a.T
    yield "no states", np.zeros((0, *a.shape))
    yield "states that do not go together", np.broadcast_to(a, (3, 2, *a.shape)) if a.ndim else None
    for kind in ("complex128", "bool", "object", "S8", "longdouble", "float16", "float32", "int8", "uint64"):
        with np.errstate(all="ignore"):
            yield f"of type {kind}", np.zeros_like(a).astype(kind)
    yield "masked", np.ma.masked_array(a, mask=np.ones_like(a, dtype=bool))


ODD: dict[str, Any] = {
    "huge": 1e300,
    "tiny": 1e-320,
    "a scalar array": np.array(0.5),
    "dates": np.zeros(3, "M8[s]"),
    "a record": np.zeros(3, [("a", "f8")]),
    "no numbers": np.zeros(0),
    "many axes": np.zeros((1,) * 9),
    "a class": float,
    "a module": np,
    "a generator": (x for x in ()),
    "a long text": "x" * 100_000,
    "surrogates": "\ud800",
    "a null": "a\0b",
    "a huge half": np.float16(6e4),
    "a model": bough.trees.topologies.chain(1),
}
"""Things that are wrong for most arguments, too, and that fewer people would think of."""

SAME: dict[str, Callable[[np.ndarray], Any]] = {
    "a list": lambda a: a.tolist(),
    "read-only": lambda a: _read_only(a.copy()),
    "with gaps": lambda a: np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a,
    "backwards": lambda a: a[..., ::-1].copy()[..., ::-1] if a.ndim else a,
    "column by column": lambda a: np.asfortranarray(a),
    "unaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape),
    "of the other byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "a subclass": lambda a: a.view(np.ma.MaskedArray),
    "one state of a batch": lambda a: np.stack([a, a])[1],
}
"""The same numbers in other clothes: results have the same bits."""


def _read_only(a: np.ndarray) -> np.ndarray:
    a.setflags(write=False)
    return a
