"""MJCF files through MuJoCo's own compiler: the only module that imports mujoco."""

from __future__ import annotations

import re
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import BackendMissing, InputError
from ..names import nearest
from ..trees.visuals import WhenSeen
from .inertias import LEAST_INERTIA, LEAST_MASS
from .mjcf_bodies import actuators_of, bodies_of, fluid_of, parts_of, start_of, states_of
from .mjcf_contacts import colliding, colours_of, touching
from .mjcf_features import ignored, missing, switched
from .mjcf_names import Names, names_of
from .mjcf_sensors import sensors_left_out, sensors_of, sites_of
from .mjcf_visuals import visuals_of
from .robot import Keyframe, Robot, refuse

MENDED = f"masses below {LEAST_MASS:g} kg, moments below {LEAST_INERTIA:g} kg m^2, moments that no body has (mended)"
MENDS = (  # what the compiler says, and what to do about it
    (
        "already included",
        "Each file may be included once: take this <include> out.",
    ),
    (
        "mass and inertia of moving bodies",
        "Give it an <inertial>, or let mend=True (--mend) give it a small one.",
    ),
    ("inertia must satisfy", "Measure it anew, or let mend=True (--mend) take the nearest one that a body can have."),
    (
        "unrecognized",
        "Correct it or take it out (--mend does not): MuJoCo's XML reference says what stands in which element.",
    ),
    ("repeated name", 'Give each joint, body, geom, .. a name that no other one of its kind has: name="left_2".'),
    ("XML parse error", "It is no XML from here on; was it written to its end? Look with tail FILE."),
    ("empty file", "Was it written to its end? ls -l FILE"),
    (
        "rror opening file",
        'Paths are relative to the file, or to meshdir of its <compiler>: <compiler meshdir="meshes"/>.',
    ),
)
OTHERWISE = "See what is read: gaussdyn robot FILE --check --mend."


def read_mjcf(path: Path, *, mend: bool = False) -> Robot:
    """Return the robot of an MJCF file; see `read_robot`.

    Raises
    ------
    InputError
        What MuJoCo's compiler says about the file; what the model needs and cannot be had yet, all of it.
    BackendMissing
        MuJoCo is not installed.
    """
    model, text, said = compiled(path, mend=mend)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that are none are named where they are checked
        return robot_of(path.stem, model, text, said)


def compiled(path: Path, *, mend: bool = False) -> tuple[Any, str, tuple[str, ...]]:
    """Return the compiled model of a file, the model as one text, and what the compiler warned of.

    `mend` has the compiler raise masses and inertias that are too small, and balance those that no body has.
    """
    try:
        import mujoco
    except ImportError:
        raise BackendMissing("mujoco", "mjcf") from None
    before, said = mujoco.get_mju_user_warning(), list[str]()
    mujoco.set_mju_user_warning(said.append)  # else they go into a file in the working folder
    try:
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            model, text, bounded = _built(str(path), mend)
    except (ValueError, mujoco.FatalError) as error:
        given = " ".join(str(error).split())
        text = "a file that MuJoCo's compiler accepts"
        raise InputError(f"robot file {path.name}", given, text, _mend_of(given)) from None
    finally:
        mujoco.set_mju_user_warning(before)
    said += [str(one.message) for one in raised]
    said += [MENDED] if bounded else []
    switched(model)
    return model, text, tuple(dict.fromkeys(" ".join(line.split()) for line in said))


def _mend_of(said: str) -> str:
    """Return what to do about what the compiler said; for a word that it does not know one of those that it does."""
    import mujoco

    mend = next((text for words, text in MENDS if words in said), OTHERWISE)
    if word := re.search(r"unrecognized (?:element Element|attribute:) '(\w+)'", said):
        known = set(re.findall(r"[a-zA-Z_]+", mujoco.mj_printSchema(False, False))) | {"worldbody"}  # (world)body there
        mend = f"{nearest(word[1], known)[1]} {mend}".strip()
    return mend


def _built(path: str, mend: bool) -> tuple[Any, str, bool]:
    """Return the model of a file, its text, and whether masses and inertias were mended: where nothing else serves."""
    import mujoco

    for bounded in (False, True):
        spec = mujoco.MjSpec.from_file(path)
        if bounded:
            spec.compiler.balanceinertia, spec.compiler.boundmass = True, LEAST_MASS
            spec.compiler.boundinertia = LEAST_INERTIA
        try:
            return spec.compile(), str(spec.to_xml()), bounded
        except (ValueError, mujoco.FatalError):
            if bounded or not mend:
                raise
    raise AssertionError


def sensor_kinds() -> dict[int, str]:
    """Return the kinds of sensors by MuJoCo's numbers for them, in the words of MJCF."""
    import mujoco

    found = {int(getattr(mujoco.mjtSensor, x)): x[7:].lower() for x in dir(mujoco.mjtSensor) if x[:7] == "mjSENS_"}
    return {k: x.replace("actfrc", "actuatorfrc") for k, x in found.items()}


def left_out(m: Any, names: Names, said: tuple[str, ...]) -> list[str]:
    """Return what of a model is ignored, and what its compiler warned of."""
    return [*ignored(m, names), *sensors_left_out(m, names, sensor_kinds()), *said]


def survey(path: Path, *, mend: bool = False) -> dict[str, Any]:
    """Return what the model of a file holds (counts), what is ignored, and what is missing, as plain data."""
    m, _, said = compiled(path, mend=mend)
    names = names_of(m)
    kinds = ("free joints", "ball joints", "sliders", "hinges")
    holds: dict[str, int] = {"bodies": m.nbody - 1}
    holds |= {kind: int((m.jnt_type == k).sum()) for k, kind in enumerate(kinds)}
    holds |= {"velocities": m.nv, "shapes that may touch": len({g for pair in colliding(m) for g in pair})}
    holds |= {"actuators": m.nu, "tendons": m.ntendon, "equalities": m.neq, "keyframes": m.nkey}
    return {
        "holds": holds,
        "ignored": left_out(m, names, said),
        "missing": list(missing(m, names)),
    }


def robot_of(name: str, m: Any, text: str, said: tuple[str, ...] = ()) -> Robot:
    """Return the robot of a compiled model; `said` is what its compiler warned of."""
    names = names_of(m)
    refuse(name, list(missing(m, names)))
    touch, kinds = touching(m, names), sensor_kinds()
    keys = [
        Keyframe(name=x, q=start_of(m, k), v=m.key_qvel[k], control=m.key_ctrl[k], states=states_of(m, k))
        for k, x in enumerate(names.keyframes)
    ]
    return Robot(
        name=name, text=text, bodies=bodies_of(m, names, touch.shapes), obstacles=touch.obstacles,
        parts=parts_of(m, names), actuators=actuators_of(m, names), pairs=touch.pairs, contact=touch.contact,
        gravity=tuple(m.opt.gravity.tolist()), fluid=fluid_of(m), dt=float(m.opt.timestep),
        home=start_of(m), keyframes=tuple(keys), ignored=tuple(left_out(m, names, said)),
        sites=sites_of(m, names), sensors=sensors_of(m, names, kinds), colours=colours_of(m, names),
        visuals=WhenSeen(partial(visuals_of, m, names)),
    )  # fmt: skip
