"""One small file of every kind that is read, and all that is done with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gaussdyn import checker_spatial_several
from gaussdyn._files import HASH, SEAL, seal
from gaussdyn.analysis.audit.audit import audit
from gaussdyn.cli.audit_command import read as read_run
from gaussdyn.contact.outcome.outcome import outcome
from gaussdyn.contact.outcome.problem_file import read_outcome_problem
from gaussdyn.integrate.event_driven.integrator import EventDriven
from gaussdyn.integrate.run import hdf5 as storage
from gaussdyn.integrate.run.trajectory import Trajectory
from gaussdyn.integrate.simulate import simulate
from gaussdyn.programs.files import fclib
from gaussdyn.programs.files.formats import read_problem
from gaussdyn.programs.laws.laws import Coulomb, Rolling
from gaussdyn.programs.problems.complementarity import ComplementarityProblem
from gaussdyn.programs.solve import solve
from gaussdyn.scenes.catalogue import build

DATA = Path(__file__).parent / "data"
LCP = {"name": "small", "M": [["2", 1], [1, 2]], "q": [-5, "-6"]}
QP = {
    "kind": "qp",
    "name": "s",
    "H": [[1, 0], [0, 1]],
    "g": [-1, 0],
    "A": [[1, 1]],
    "b": [1],
    "C": [[0, 1]],
    "d": [0.5],
}
PLANAR = {
    "kind": "planar_body", "m": "1", "J": "1/3", "points": [["-1", "-1"], ["1", "-1"]], "normals": [[0, 1], [0, 1]],
    "mu": ["1/2", "1/2"], "force": ["0", "-10", "0"], "state": [1, 1], "bilateral": [False, False],
}  # fmt: skip
SPATIAL = {
    "kind": "spatial_body", "J": [[1, 0, 0], [0, 2, 0], [0, 0, 2]], "r": ["0", "1/2", "-1"], "mu": "1/2",
    "force": [1, 0, -10], "moment": [0, 0, 0], "omega": [0, 1, 0],
}  # fmt: skip


def files(folder: Path) -> dict[str, tuple[bytes, str]]:
    """Return the bytes and the ending of one file of every kind."""
    found = {name: (json.dumps(value).encode(), ".json") for name, value in (("lcp", LCP), ("qp", QP))}
    found |= {"planar": (json.dumps(PLANAR).encode(), ".json"), "spatial": (json.dumps(SPATIAL).encode(), ".json")}
    found["cases"] = json.dumps({"kind": "lcp", "cases": [LCP, {**LCP, "name": "two"}]}).encode(), ".json"
    for name in ("lcp", "planar", "spatial"):
        source = folder / "source.json"
        source.write_bytes(found[name][0])
        proof = outcome(read_outcome_problem(source)).certificate
        assert proof is not None
        found[f"certificate_{name}"] = proof.to_json().encode(), ".json"
    found["fclib_global"] = (DATA / "ladder.hdf5").read_bytes(), ".hdf5"
    W = np.eye(10) + 0.1
    for name, problem in {
        "fclib_local": ComplementarityProblem(
            W=W[:6, :6], q=[-1, 0.2, 0, -1, 0, 0.3], laws=[Coulomb(0.3), Coulomb(0.5)]
        ),
        "fclib_rolling": ComplementarityProblem(W=W, q=-W[0], laws=[Rolling(0.3, 0.1), Rolling(0.5, 0.1)]),
    }.items():
        path = folder / "written.hdf5"
        fclib.write(path, problem, r=np.zeros(len(problem.q)))
        found[name] = path.read_bytes()[: -len(SEAL) - HASH], ".hdf5"  # as other programs write them
    bounce = build("two_ball_drop")
    rods = build("painleve_rod", mu=1.8)
    for name, run in {
        "run": simulate(build("launched_cube"), t_end=0.02),
        "run_events": simulate(bounce, t_end=bounce.t_end, stepper=EventDriven(), save=1),
        "run_proofs": simulate(rods, t_end=0.004, examine="full"),
    }.items():
        found[name] = run.save(folder / "written.h5").read_bytes(), ".h5"
        chunk = bytes(storage.packed(run))
    found["chunk"] = chunk + seal(chunk), ".h5"
    return found


def solved(path: Path) -> None:
    """Read a problem and solve it."""
    solve(read_problem(path).problem, seconds=0.5)


def examined(path: Path) -> None:
    """Read a problem and count its solutions."""
    outcome(read_outcome_problem(path), limit=200)


def loaded(path: Path) -> None:
    """Load a run and look at it."""
    run = Trajectory.load(path)
    repr(run), run.contacts(-1), run.at(run.t_reached), run.event_counts, run.outcome_intervals, run.state(0)
    for proof in run.certificates:
        proof.verify()


def gathered(path: Path) -> None:
    """Load a run of which there is a chunk."""
    place = path.with_name("unfinished.h5")
    folder = path.with_name(f"{place.name}{storage.PARTS}")
    folder.mkdir(exist_ok=True)
    (folder / "000000.h5").write_bytes(path.read_bytes())
    loaded(place)


def audited(path: Path) -> None:
    """Do what `gaussdyn audit` does."""
    run, system = read_run(str(path))
    audit(run, system).explain()


def verified(path: Path) -> None:
    """Do what `gaussdyn verify` does."""
    assert checker_spatial_several.verdict(path.read_bytes).startswith(("VALID", "INVALID", "UNKNOWN"))


PROBLEM: dict[str, Callable[[Path], Any]] = {"solve": solved, "outcome": examined}
RUN: dict[str, Callable[[Path], Any]] = {"load": loaded, "audit": audited}
FRICTION: dict[str, Callable[[Path], Any]] = {"solve": solved, "outcome": read_outcome_problem}
READERS = {
    **dict.fromkeys(("lcp", "qp", "planar", "spatial", "cases"), PROBLEM),
    **dict.fromkeys(("fclib_global", "fclib_local", "fclib_rolling"), FRICTION),
    **dict.fromkeys(("run", "run_events", "run_proofs"), RUN),
    "chunk": {"load": gathered},
    **{f"certificate_{name}": {"verify": verified} for name in ("lcp", "planar", "spatial")},
}
