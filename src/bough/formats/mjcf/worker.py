"""What MuJoCo's compiler makes of a file, as plain data. Runs in a process of its own, so it must not import bough.

Asked by lines of JSON on the standard input, answers with lines of JSON on the standard output. A request has

- ``xml``: the text, without includes and without paths,
- ``files``: for each file that the text names, where it is, or null if it is missing,
- ``shown``: what to call each of these files in messages.

The answer has arrays and names as MuJoCo calls them, or an ``error``.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import warnings
from typing import Any

__all__ = ["answer_to", "main"]

ARRAYS = (
    "body_parentid", "body_pos", "body_quat", "body_mass", "body_ipos", "body_iquat", "body_inertia", "body_jntadr",
    "body_jntnum", "body_mocapid", "body_gravcomp",
    "jnt_type", "jnt_bodyid", "jnt_pos", "jnt_axis", "jnt_qposadr", "jnt_dofadr", "jnt_limited", "jnt_range",
    "jnt_stiffness", "jnt_stiffnesspoly", "jnt_springyield", "jnt_actfrclimited", "jnt_actfrcrange", "jnt_solref",
    "jnt_solimp", "jnt_margin", "dof_solref", "dof_solimp",
    "dof_armature", "dof_damping", "dof_dampingpoly", "dof_frictionloss", "qpos0", "qpos_spring",
    "geom_type", "geom_bodyid", "geom_pos", "geom_quat", "geom_size", "geom_rgba", "geom_matid", "geom_contype",
    "geom_conaffinity", "geom_condim", "geom_priority", "geom_friction", "geom_solmix", "geom_solref", "geom_solimp",
    "geom_margin", "geom_gap", "geom_adhesion", "geom_surfacevel", "geom_dataid", "mat_rgba", "mesh_pos", "mesh_quat",
    "mesh_scale",
    "site_bodyid", "site_pos", "site_quat", "site_type", "site_size",
    "sensor_type", "sensor_objtype", "sensor_objid", "sensor_reftype", "sensor_refid", "sensor_cutoff", "sensor_delay",
    "eq_type", "eq_objtype", "eq_obj1id", "eq_obj2id", "eq_active0", "eq_data", "eq_solref", "eq_solimp",
    "exclude_signature", "pair_geom1", "pair_geom2", "pair_dim", "pair_friction", "pair_solref", "pair_solreffriction",
    "pair_solimp", "pair_margin", "pair_gap", "pair_adhesion",
    "tendon_armature", "tendon_stiffness", "tendon_damping", "tendon_frictionloss", "tendon_limited",
    "actuator_trntype", "actuator_trnid", "actuator_gear", "actuator_armature", "actuator_damping",
    "actuator_dyntype", "actuator_gaintype", "actuator_gainprm", "actuator_biastype", "actuator_biasprm",
    "actuator_ctrladr", "actuator_ctrlnum", "actuator_ctrllimited", "actuator_ctrlrange", "actuator_forcelimited",
    "actuator_forcerange", "actuator_delay", "actuator_plugin", "actuator_group",
)  # fmt: skip
"""Arrays of the compiled model that are answered; those that a version of MuJoCo does not have are left out."""

NAMED = {
    "body": "nbody",
    "jnt": "njnt",
    "geom": "ngeom",
    "site": "nsite",
    "eq": "neq",
    "actuator": "nactuator",
    "sensor": "nsensor",
}
SWITCHES = (
    "gravity", "spring", "damper", "equality", "constraint", "frictionloss", "limit", "contact", "clampctrl",
    "filterparent", "actuation", "refsafe", "eulerdamp",
)  # fmt: skip
"""Flags by which a file may switch off parts of a simulation."""

MEMORY_TOLD = "what is not trusted is compiled with a limit, what is loaded with trusted=True with none"
MOST_ALIKE = 200_000  # bodies, joints, …: more than a file can mean
STAND_IN = 1e-3  # m: radius of a sphere that stands for a mesh


class _Refused(Exception):
    """What is wrong with the file."""


def answer_to(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request."""
    import mujoco

    try:
        with warnings.catch_warnings(record=True) as doubts:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_string(request["xml"])
            spec.compiler.discardvisual = False  # shapes are kept
            spec.compiler.fusestatic = False  # and so are the names of bodies that do not move
            heights = _heights(mujoco, spec, request["files"])
            on_fields = [(geom, heights[geom.hfieldname]) for geom in spec.geoms if geom.hfieldname in heights]
            stood_for = _replace_meshes(mujoco, spec, request["files"], request["shown"])
            model = spec.compile()
    except _Refused as refused:
        return {"error": str(refused)}
    except Exception as error:
        # MuJoCo raises errors of many types; what it says is all there is
        text = str(error).strip() or type(error).__name__
        short = "unknown exception" in text or "allocate memory" in text
        return {"error": f"{text} (for want of memory? {MEMORY_TOLD})" if short else text}
    answer: dict[str, Any] = {"doubts": [str(doubt.message) for doubt in doubts]}
    for name in ARRAYS:
        if hasattr(model, name):
            answer[name] = getattr(model, name).tolist()
    answer["sensor_kinds"] = [mujoco.mjtSensor(x).name.removeprefix("mjSENS_").lower() for x in model.sensor_type]
    for kind, count in NAMED.items():
        starts = getattr(model, f"name_{kind}adr")
        if getattr(model, count) > MOST_ALIKE:
            return {"error": f"there are {getattr(model, count)} elements of one kind, expected at most {MOST_ALIKE}"}
        answer[f"{kind}_names"] = [_text(model.names, int(start)) for start in starts]
    answer.update(_options(mujoco, model))
    answer["name"] = spec.modelname
    answer["mesh_files"] = [mesh.file for mesh in sorted(spec.meshes, key=lambda mesh: mesh.id)]
    answer["meshes"] = {str(geom.id): where for geom, where in stood_for}
    told = [k for k, file in enumerate(answer["mesh_files"]) if not file]
    for k in told:
        if int(model.mesh_facenum[k]) > MOST_ALIKE:
            return {"error": f"a mesh has {int(model.mesh_facenum[k])} triangles, expected at most {MOST_ALIKE}"}
    answer["mesh_triangles"] = {str(k): _triangles(model, k) for k in told}
    answer["fields"] = {str(geom.id): field for geom, field in on_fields}
    return answer


def _options(mujoco: Any, model: Any) -> dict[str, Any]:
    disabled = mujoco.mjtDisableBit
    off = {
        name: bool(int(model.opt.disableflags) & int(getattr(disabled, f"mjDSBL_{name.upper()}")))
        for name in SWITCHES
        if hasattr(disabled, f"mjDSBL_{name.upper()}")
    }
    return {
        "gravity": model.opt.gravity.tolist(),
        "off": off,
        "density": model.opt.density,
        "viscosity": model.opt.viscosity,
        "nflex": model.nflex,
        "nplugin": model.nplugin,
        "simulation": {
            "timestep": model.opt.timestep,
            "integrator": mujoco.mjtIntegrator(model.opt.integrator).name.removeprefix("mjINT_").lower(),
            "cone": mujoco.mjtCone(model.opt.cone).name.removeprefix("mjCONE_").lower(),
            "impratio": model.opt.impratio,
            "tolerance": model.opt.tolerance,
            "iterations": model.opt.iterations,
            "noslip_iterations": model.opt.noslip_iterations,
            "override": bool(int(model.opt.enableflags) & int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)),
            "disableactuator": int(model.opt.disableactuator),
        },
    }


def _heights(mujoco: Any, spec: Any, files: dict[str, str | None]) -> dict[str, Any]:
    """Lengths along x and y, and rows of heights, of the height fields whose files are there, by name.

    MuJoCo reads and scales them in a model that has nothing else.
    """
    alone, found = mujoco.MjSpec(), [field for field in spec.hfields if not field.file or files.get(field.file)]
    for field in found:
        alone.add_hfield(
            name=field.name, content_type=field.content_type, file=field.file, size=field.size, nrow=field.nrow,
            ncol=field.ncol, userdata=field.userdata,
        )  # fmt: skip
    alone.assets = {field.file: _read(files[field.file]) for field in found if field.file}
    model, heights = alone.compile(), {}
    for k, field in enumerate(found):
        rows, columns, start = int(model.hfield_nrow[k]), int(model.hfield_ncol[k]), int(model.hfield_adr[k])
        x, y, z, _ = model.hfield_size[k].tolist()
        data = model.hfield_data[start : start + rows * columns].astype(float).reshape(rows, columns)
        heights[field.name] = [[2.0 * x, 2.0 * y], (z * data).tolist()]
    return heights


def _replace_meshes(mujoco: Any, spec: Any, files: dict[str, str | None], shown: dict[str, str]) -> list[Any]:
    """Read the meshes that inertias depend on. Others are never opened: spheres stand for them while compiling.

    Returns pairs of a stand-in and [file, scale] of the mesh it stands for.
    """
    mesh_type, field_type = mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_HFIELD
    always = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    never = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    meshes = {mesh.name: mesh for mesh in spec.meshes}
    stood_for: list[Any] = []
    used = set()
    for geom in spec.geoms:
        body = geom.parent
        mesh = meshes.get(geom.meshname) if geom.meshname else None
        if geom.type == field_type:
            geom.hfieldname = ""
            stood_for.append((geom, None))
        elif mesh is None or not mesh.file:
            continue
        elif (body.name != "world" and not never and (always or not body.explicitinertial)) or (
            geom.type != mesh_type and files.get(mesh.file)
        ):
            if not files.get(mesh.file):
                raise _Refused(
                    f"the mesh {shown.get(mesh.file, mesh.file)!r} cannot be read, and the inertia of body "
                    f"{body.name!r} depends on it; expected the file, or an <inertial> element"
                )
            used.add(mesh.name)
            continue
        else:
            geom.meshname = ""
            stood_for.append((geom, [mesh.file, [float(x) for x in mesh.scale]]))
        geom.type = mujoco.mjtGeom.mjGEOM_SPHERE
        geom.size = [STAND_IN, 0.0, 0.0]
        geom.mass = 0.0
        geom.fromto = [math.nan] * 6
    for name, mesh in meshes.items():
        if mesh.file and name not in used:
            spec.delete(mesh)
    for field in list(spec.hfields):
        spec.delete(field)
    spec.assets = {meshes[name].file: _read(files[meshes[name].file]) for name in sorted(used)}
    return stood_for


def _triangles(model: Any, mesh: int) -> Any:
    """Nine numbers for each triangle of a mesh, in the frame that the compiler gives it."""
    corner, face = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    corners = model.mesh_vert[corner : corner + int(model.mesh_vertnum[mesh])].astype(float)
    faces = model.mesh_face[face : face + int(model.mesh_facenum[mesh])]
    return corners[faces].reshape(-1, 9).tolist()


def _read(path: str | None) -> bytes:
    with open(str(path), "rb") as stream:
        return stream.read()


def _text(names: bytes, start: int) -> str:
    return names[start : names.index(b"\0", start)].decode("utf-8", "replace")


def _limit(memory: int, seconds: int, output: int) -> None:
    """Bound what this process may use, where the system can."""
    try:
        import resource
    except ImportError:  # Windows: the parent's clock alone
        return
    for kind, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, output),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(ValueError, OSError):  # a system that does not know this limit
            resource.setrlimit(kind, (most, most))


def main() -> None:
    """Answer requests until there are no more. The first line has the limits and where packages are."""
    first = json.loads(sys.stdin.readline())
    sys.path[:] = first["path"]
    _limit(*first["limits"])
    for line in sys.stdin:
        try:
            answer = answer_to(json.loads(line))
        except MemoryError:
            answer = {"error": "compiling it takes more memory than is allowed"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
