"""Inertias of solids: against sums over many points, MuJoCo's geoms, and one another."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import mujoco
import numpy as np
import pytest

import bough
from bough import Inertia, Placement
from model_strategies import random_rotation

# a solid, whether points are inside it, and how far it reaches
SOLIDS: dict[str, tuple[Any, Any, tuple[float, float, float]]] = {
    "box": (
        lambda **k: Inertia.box((0.4, 0.6, 1.0), **k),
        lambda x, y, z: (abs(x) < 0.2) & (abs(y) < 0.3) & (abs(z) < 0.5),
        (0.2, 0.3, 0.5),
    ),
    "sphere": (
        lambda **k: Inertia.sphere(0.3, **k),
        lambda x, y, z: x * x + y * y + z * z < 0.09,
        (0.3, 0.3, 0.3),
    ),
    "ellipsoid": (
        lambda **k: Inertia.ellipsoid((0.2, 0.3, 0.5), **k),
        lambda x, y, z: (x / 0.2) ** 2 + (y / 0.3) ** 2 + (z / 0.5) ** 2 < 1,
        (0.2, 0.3, 0.5),
    ),
    "cylinder": (
        lambda **k: Inertia.cylinder(0.2, 0.7, **k),
        lambda x, y, z: (x * x + y * y < 0.04) & (abs(z) < 0.35),
        (0.2, 0.2, 0.35),
    ),
    "capsule": (
        lambda **k: Inertia.capsule(0.2, 0.5, **k),
        lambda x, y, z: x * x + y * y + np.maximum(abs(z) - 0.25, 0) ** 2 < 0.04,
        (0.2, 0.2, 0.45),
    ),
}


def integrated(inside: Any, reach: tuple[float, float, float], density: float) -> tuple[float, Any]:
    """Mass and inertia about the origin, by the midpoint rule."""
    count = 160
    axes = [(np.arange(count) + 0.5) / count * 2 * r - r for r in reach]
    x, y, z = np.meshgrid(*axes, indexing="ij")
    weight = density * np.prod([2 * r / count for r in reach]) * inside(x, y, z)
    p = np.stack([x, y, z])
    second = np.einsum("iabc,jabc,abc->ij", p, p, weight)
    return float(weight.sum()), np.trace(second) * np.eye(3) - second


@pytest.mark.parametrize("name", SOLIDS)
def test_by_integration(name: str) -> None:
    solid, inside, reach = SOLIDS[name]
    mass, J = integrated(inside, reach, 700.0)
    ours = solid(density=700.0)
    assert ours.mass == pytest.approx(mass, rel=2e-3)
    assert np.allclose(ours.matrix, J, rtol=0, atol=2e-3 * J.max())
    assert ours.com == (0.0, 0.0, 0.0)
    assert ours.flaw is None
    same = solid(mass=ours.mass)
    assert np.allclose(same.matrix, ours.matrix, rtol=1e-15, atol=0)
    assert same.mass == ours.mass


GEOMS = {
    "box": ('type="box" size="0.2 0.3 0.5"', Inertia.box((0.4, 0.6, 1.0), density=700.0)),
    "sphere": ('type="sphere" size="0.3"', Inertia.sphere(0.3, density=700.0)),
    "ellipsoid": ('type="ellipsoid" size="0.2 0.3 0.5"', Inertia.ellipsoid((0.2, 0.3, 0.5), density=700.0)),
    "cylinder": ('type="cylinder" size="0.2 0.35"', Inertia.cylinder(0.2, 0.7, density=700.0)),
    "capsule": ('type="capsule" size="0.2 0.25"', Inertia.capsule(0.2, 0.5, density=700.0)),
}


@pytest.mark.parametrize("name", GEOMS)
def test_by_mujoco(name: str) -> None:
    shape, ours = GEOMS[name]
    m = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><body><freejoint/><geom {shape} density="700"/></body></worldbody></mujoco>'
    )
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, m.body_iquat[1])
    J = R.reshape(3, 3) @ np.diag(m.body_inertia[1]) @ R.reshape(3, 3).T
    assert ours.mass == pytest.approx(float(m.body_mass[1]), rel=1e-12)
    assert np.allclose(ours.matrix, J, rtol=0, atol=1e-12 * J.max())


def test_limits_of_shapes() -> None:
    """A cube of cubes, a ball as ellipsoid and as a short capsule, a rod as a thin box, cylinder and capsule."""
    ball = Inertia.sphere(0.3, mass=2.0).matrix
    assert np.allclose(Inertia.ellipsoid((0.3, 0.3, 0.3), mass=2.0).matrix, ball, rtol=1e-15)
    assert np.allclose(Inertia.capsule(0.3, 1e-12, mass=2.0).matrix, ball, rtol=1e-11)
    rod = Inertia.rod(0.8, mass=2.0).matrix
    assert rod[2, 2] == 0.0
    for thin in (Inertia.cylinder(1e-9, 0.8, mass=2.0), Inertia.capsule(1e-9, 0.8, mass=2.0)):
        assert np.allclose(thin.matrix, rod, rtol=0, atol=1e-8)
    assert np.allclose(Inertia.box((1e-9, 1e-9, 0.8), mass=2.0).matrix, rod, rtol=0, atol=1e-15)
    assert Inertia.rod(0.8, density=2.5).mass == 2.0
    corners = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.15, 0.15) for z in (-0.25, 0.25)]
    parts = [Inertia.box((0.2, 0.3, 0.5), density=3.0).placed(Placement(origin=c)) for c in corners]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    expected = Inertia.box((0.4, 0.6, 1.0), density=3.0)
    assert whole.mass == pytest.approx(expected.mass, rel=1e-15)
    assert np.allclose(whole.matrix, expected.matrix, rtol=0, atol=1e-15)


@pytest.mark.parametrize("make", [lambda a: Inertia.cylinder(0.1, 0.5, mass=1.0, axis=a),
                                  lambda a: Inertia.capsule(0.1, 0.5, mass=1.0, axis=a),
                                  lambda a: Inertia.rod(0.5, mass=1.0, axis=a)])  # fmt: skip
def test_axes(make: Any, rng: np.random.Generator) -> None:
    along = make("z").matrix
    assert make("x").matrix.tolist() == along[[2, 1, 0]][:, [2, 1, 0]].tolist()
    R = random_rotation(rng)
    assert np.allclose(make(R[:, 2]).matrix, R @ along @ R.T, rtol=0, atol=1e-16)
    with pytest.raises(bough.errors.ModelError, match="axis"):
        make("w")


def test_a_body_of_it_moves_so() -> None:
    """A rod on a hinge at its end has m l²/3."""
    b = bough.Builder()
    b.add("rod", bough.joints.Revolute("y"), inertia=Inertia.rod(2.0, mass=3.0).placed(Placement(origin=(0, 0, -1))))
    assert bough.crba(b.build(), [0.3])[0, 0] == pytest.approx(4.0, rel=1e-15)


def test_an_inertia_is_said_once() -> None:
    b = bough.Builder()
    for more in ({"mass": 1.0}, {"com": (0, 0, 1)}):
        with pytest.raises(bough.errors.ModelError, match="body 'a': give mass and com, or an Inertia, not both"):
            b.add("a", bough.joints.Revolute("y"), inertia=Inertia.sphere(1.0, mass=1.0), **more)  # type: ignore[arg-type]
    assert b.build().nbodies == 0


def test_they_are_values() -> None:
    J = Inertia(2.0, (0.1, 0.2, 0.3), ((2.0, 0.1, 0.0), (0.1, 2.0, 0.2), (0.0, 0.2, 2.0)))
    assert Inertia(J.mass, J.com, J.rotational) == J
    assert hash(Inertia(J.mass, J.com, J.rotational)) == hash(J)
    assert pickle.loads(pickle.dumps(J)) == J
    assert copy.replace(J, mass=3.0).mass == 3.0 if hasattr(copy, "replace") else True
    assert Inertia(1.0).rotational == (0.0,) * 6
    assert Inertia(1.0, rotational=(1, 2, 3)).matrix.tolist() == np.diag([1.0, 2.0, 3.0]).tolist()
    with pytest.raises(TypeError):
        J + 1  # type: ignore[operator]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Inertia(-1.0), "the mass is -1.0"),
        (lambda: Inertia(1.0, rotational=(1, 1, 3)), "triangle inequality"),
        (lambda: Inertia(1.0, rotational=-1), "negative principal moment"),
        (lambda: Inertia(1.0, rotational=[[1, 2, 3], [0, 1, 0], [0, 0, 1]]), "not symmetric"),
        (lambda: Inertia("1"), "the mass is '1'"),  # type: ignore[arg-type]
        (lambda: Inertia(1.0, None), "the centre of mass is None"),  # type: ignore[arg-type]
        (lambda: Inertia.box((1, 2, 3)), "a box: mass is None and density None, expected one of the two"),
        (lambda: Inertia.box((1, 2, 3), mass=1.0, density=1.0), "expected one of the two"),
        (lambda: Inertia.box((1, 2), mass=1.0), r"the size of a box: \(1, 2\), expected 3 positive numbers"),
        (lambda: Inertia.box((1, 2, 0), mass=1.0), "expected 3 positive numbers"),
        (lambda: Inertia.box((1, 2, np.inf), mass=1.0), "expected 3 positive numbers"),
        (lambda: Inertia.box("abc", mass=1.0), "the size of a box is 'abc'"),
        (lambda: Inertia.sphere(-1.0, mass=1.0), "the radius of a sphere: -1.0, expected a positive number"),
        (lambda: Inertia.sphere(np.nan, mass=1.0), "the radius of a sphere"),
        (lambda: Inertia.sphere(1.0, mass=-1.0), "a sphere: the mass is -1.0"),
        (lambda: Inertia.sphere(1.0, mass="1"), "a sphere: the mass is '1'"),  # type: ignore[arg-type]
        (lambda: Inertia.sphere(1.0, density=[1, 2]), "a sphere: the density is"),  # type: ignore[arg-type]
        (lambda: Inertia.sphere(1e200, density=1.0), "not finite"),
        (lambda: Inertia.cylinder(1.0, None, mass=1.0), "radius and length of a cylinder"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_what_no_solid_has(make: Any, message: str) -> None:
    with pytest.raises(bough.errors.ModelError, match=message):
        make()
