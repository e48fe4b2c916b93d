"""All robot files of a folder: which MuJoCo compiles, which run here for a second, and why the others do not.

Every MJCF and URDF file that MuJoCo's compiler takes is read by `read_robot`, and its start moved to the nearest one
that limits, loops and bodies allow. A file whose meshes the compiler does not find, or cannot read, is taken without
meshes: by the compiler, and by `read_robot` where it does not find them either. Where that fails, it is read with
`mend=True`: impossible inertias, and shapes that are in one another wherever joints stand. Then it runs for a second
with the step of the file, told nothing. It counts as run if every step is SOLVED. M, and the sum of bias, passive
forces and those of the actuators, are compared with MuJoCo's at a random state, relative to their largest entries.
Every file has a process of its own, and so much processor time. One line of JSON per file goes to --out, a table and
the reasons to the screen.

Run: ``python benchmarks/robot_survey.py FOLDER [--seconds 1] [--limit 60] [--out survey.jsonl] [--match ant] [--files
LIST]``, after ``pip install mujoco``; folders are e.g. unpacked wheels of gymnasium, dm_control, robosuite or pybullet.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import re
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from gaussdyn import MoreauJean, State, read_robot, simulate
from gaussdyn.errors import GaussdynError
from gaussdyn.mechanics.robots.robot import Robot

ROOTS = ("<mujoco", "<robot")
AWAY = 0.3  # of the random coordinates and velocities at which M and forces are compared


def main() -> None:
    """Survey the files of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--limit", type=int, default=60, help="processor time per file, s")
    parser.add_argument("--out", type=Path, default=Path("survey.jsonl"))
    parser.add_argument("--match", default="", help="only files whose path has this in it")
    parser.add_argument("--files", type=Path, help="a text with the paths of all files, one per line")
    given = parser.parse_args()
    every = map(Path, given.files.read_text().split()) if given.files else given.folder.rglob("*")
    files = sorted(f for f in every if f.suffix in (".xml", ".urdf") and given.match in str(f))
    found = []
    with given.out.open("w") as out:
        for file in files:
            if is_model(file):
                found.append({"file": str(file.relative_to(given.folder))} | alone(file, given.seconds, given.limit))
                out.write(json.dumps(found[-1]) + "\n")
                out.flush()
    print(table(found))


def is_model(file: Path) -> bool:
    """Return whether a file is a robot by its text."""
    text = file.read_text(errors="replace")
    return any(root in text for root in ROOTS)


def alone(file: Path, seconds: float, limit: int) -> dict[str, Any]:
    """Return what becomes of a file, found in a process of its own within a limit of processor time (s)."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.setitimer(signal.ITIMER_PROF, limit)  # SIGPROF ends it
        with os.fdopen(write, "w") as pipe:
            json.dump(survey(file, seconds), pipe)
        atexit._run_exitfuncs()
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if said:
        return dict(json.loads(said))
    ended = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return {"end": "time" if ended == signal.SIGPROF else "crash", "reason": f"{limit} s" if ended else str(status)}


def survey(file: Path, seconds: float) -> dict[str, Any]:
    """Return how far a file comes: `end` is compile, read, start, run or done, with the reason where it is not done."""
    mujoco.set_mju_user_warning(lambda said: None)
    try:
        model, bare = compiled(file)
    except (ValueError, mujoco.FatalError) as error:
        return {"end": "compile", "reason": first_line(error)}
    found: dict[str, Any] = {"end": "read", "nv": int(model.nv), "bare": bare is not None}
    try:
        robot, start = readable(file, bare, found)
        if not robot.system().nv:
            return found | {"end": "compile", "reason": "nothing moves"}
        found |= compared(robot, model)
        start = start or robot.start(project=True)
        found["end"] = "run"
        run = simulate(robot.system(), start, seconds, stepper=MoreauJean(dt=robot.dt))
    except (GaussdynError, np.linalg.LinAlgError) as error:
        return found | {"reason": first_line(error)}
    if run.status != "COMPLETED" or run.statistics["unsolved_steps"]:
        reason = run.stop.reason if run.stop else f"{run.statistics['unsolved_steps']} steps not solved"
        return found | {"t": float(run.t[-1]), "reason": first_line(reason)}
    return found | {"end": "done", "E": float(run.statistics["max_residual"])}


def compiled(file: Path) -> tuple[Any, Path | None]:
    """Return the model of a file, and the copy without meshes that it is the model of, if it is."""
    try:
        return mujoco.MjModel.from_xml_path(str(file)), None
    except ValueError as error:
        if "file '" not in str(error):
            raise
    bare = file.with_name(f"without_meshes_{os.getpid()}_{file.name}")
    atexit.register(bare.unlink, missing_ok=True)
    bare.write_text(without_meshes_urdf(file) if file.suffix == ".urdf" else without_meshes_mjcf(file))
    return mujoco.MjModel.from_xml_path(str(bare)), bare


def without_meshes_urdf(file: Path) -> str:
    """Return the text of a URDF file without what is a mesh, and without what is only looked at."""
    text = re.sub(r"<visual.*?</visual>|<\?xml.*?\?>", "", file.read_text(errors="replace"), flags=re.DOTALL)
    return re.sub(r"<collision[^>]*>(?:(?!</collision>).)*<mesh.*?</collision>", "", text, flags=re.DOTALL)


def without_meshes_mjcf(file: Path) -> str:
    """Return the text of an MJCF file, with what it includes, without meshes, textures and skins."""
    spec = mujoco.MjSpec.from_file(str(file))
    for geom in list(spec.geoms):
        if geom.type == mujoco.mjtGeom.mjGEOM_MESH or geom.meshname:
            spec.delete(geom)
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for part in [*spec.meshes, *spec.textures, *spec.skins]:
        spec.delete(part)
    spec.compile()
    return str(spec.to_xml())


def readable(file: Path, bare: Path | None, found: dict[str, Any]) -> tuple[Robot, State | None]:
    """Return the robot of a file and its start, of its copy without meshes where the file itself cannot be read."""
    try:
        return mended(file, found)
    except GaussdynError:
        if bare is None:
            raise
        found["end"] = "read"
        return mended(bare, found)


def mended(file: Path, found: dict[str, Any]) -> tuple[Robot, State | None]:
    """Return the robot of a file and its start, mended where that is needed; `found` says so, and how far it came."""
    try:
        robot = read_robot(file)
        return robot, robot.start(project=True)
    except GaussdynError:
        robot = read_robot(file, mend=True)
        found |= {"mend": sum(line.startswith("contact of") for line in robot.ignored), "end": "start"}
        return robot, None


def compared(robot: Robot, model: Any) -> dict[str, float]:
    """Return how far M and the forces are from MuJoCo's at a random state, relative to the largest entries."""
    system, rng = robot.system(), np.random.default_rng(1)
    if system.nq != model.nq or system.nv != model.nv or len(robot.actuators) < model.nu:
        return {}
    v = AWAY * rng.normal(size=system.nv)
    q, told = system.move(robot.home, AWAY * rng.normal(size=system.nv), 1.0), rng.uniform(-1.0, 1.0, model.nu)
    data, M = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    data.qpos, data.qvel = q, v
    if model.nu and system.activations is None:
        data.ctrl = told
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, M)
    control = np.zeros(len(robot.actuators))
    control[: model.nu] = data.ctrl
    off_M = np.abs(system.mass(q) - M).max() / np.abs(M).max()
    parts = [-data.qfrc_bias, data.qfrc_passive, data.qfrc_actuator]
    size = max(float(np.abs(part).max()) for part in parts)
    return {
        "mass": float(off_M),
        "force": float(np.abs(system.force(0.0, q, v, control) - sum(parts)).max() / (size or 1.0)),
    }


def first_line(error: object) -> str:
    """Return the first line of what went wrong."""
    return str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__


def table(found: list[dict[str, Any]]) -> str:
    """Return a table by package, and the reasons of all files that MuJoCo compiles and that did not run."""
    lines = [
        "| package | compiled by MuJoCo | run | of these mended | read | M, forces to 1e-12 |",
        "|---|---|---|---|---|---|",
    ]
    packages = sorted({one["file"].split("/")[0] for one in found})
    for package in (*packages, ""):
        own = [one for one in found if package in ("", one["file"].split("/")[0]) and one["end"] != "compile"]
        ends, same = Counter(one["end"] for one in own), [one for one in own if "mass" in one]
        mends = sum("mend" in one and one["end"] == "done" for one in own)
        good = sum(max(one["mass"], one["force"]) <= 1e-12 for one in same)
        counts = (len(own), ends["done"], mends, len(own) - ends["read"], f"{good} of {len(same)}")
        lines.append(f"| {package or 'all'} | {' | '.join(map(str, counts))} |")
    lines += [
        f"{one['file']}: {one['end']}: {one['reason']}" for one in found if one["end"] not in ("compile", "done")
    ]  # fmt: skip
    off = [one for one in found if max(one.get("mass", 0.0), one.get("force", 0.0)) > 1e-12]
    return "\n".join(
        [*lines, *(f"{one['file']}: M off by {one['mass']:.1e}, force by {one['force']:.1e}" for one in off)]
    )


if __name__ == "__main__":
    main()
