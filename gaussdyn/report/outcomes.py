"""The outcomes of a run as a table: when, what they mean, and the proof of what is not unique."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

import numpy as np

from ..analysis.margins import saved_state
from ..contact.outcome.outcome import outcome
from ..contact.outcome.verdicts import Verdict
from ..errors import InputError
from ..integrate.run.certificate_log import LEAVES
from ..integrate.run.trajectory import Trajectory
from ..integrate.run.uniqueness_checks import accelerating
from ..mechanics.scene import Scene
from .place import data_url
from .series import spans
from .subject import is_catalogued

MOST = 200  # rows of the table
LARGEST = 400_000  # bytes of a certificate that goes into the page


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Steps in a row with the same outcome.

    Attributes
    ----------
    label : str
    start, stop : float
        Beginning of the first and end of the last step, s.
    steps : int
    command : str
        What proves it; empty where there is nothing to prove.
    name, certificate : str
        File name and data URL of the proof; empty where there is none.
    found : str
        The outcome in words, as proved.
    """

    label: str
    start: float
    stop: float
    steps: int
    command: str = ""
    name: str = ""
    certificate: str = ""
    found: str = ""


def stretches(run: Trajectory, scene: Scene | None) -> tuple[list[Stretch], int]:
    """Return the outcomes of a run, and how many are left out; the first of every kind but UNIQUE with its proof.

    The proof is about the acceleration at the beginning of the first step of the stretch. It is left out without a
    scene, where that state was not saved, and where it is too large for a page.
    """
    if not len(run.steps.t) or set(run.outcomes) <= {"NOT_EXAMINED"}:
        return [], 0
    borders = np.r_[run.steps.t[0] - run.steps.dt[0], run.steps.t]
    found, proved, at = [], {"UNIQUE", "NOT_EXAMINED"}, 0
    for label, start, stop in spans(run.steps.outcome.tolist(), borders):
        end = int(np.searchsorted(borders, stop))
        proof = {} if scene is None or label in proved else _proof(run, scene, label, at)
        proved.add(label)
        command = _command(run, start) if is_catalogued(scene) and label not in ("UNIQUE", "NOT_EXAMINED") else ""
        found.append(Stretch(label=label, start=start, stop=stop, steps=end - at, command=command, **proof))
        at = end
    return found[:MOST], max(len(found) - MOST, 0)


def _command(run: Trajectory, t: float) -> str:
    words = ["gaussdyn", "outcome", run.scene, *(f"--set={key}={value!r}" for key, value in run.params.items())]
    return shlex.join([*words, *(["--at", repr(t)] if t > 0.0 else []), "--certificate", "proof.json"])


def _proof(run: Trajectory, scene: Scene, label: str, step: int) -> dict[str, str]:
    state = saved_state(run, step)
    if state is None:
        return {}
    try:
        found = outcome(accelerating(scene.system, state, scene.control), limit=LEAVES)
    except InputError:
        return {}
    if found.certificate is None or found.verdict is Verdict.UNDECIDED:
        return {}
    data = found.certificate.to_json().encode()
    if len(data) > LARGEST or str(found.verdict) != label:
        return {}
    url = data_url("application/json", data)
    return {"name": f"{run.scene}-{label}-{step}.json", "certificate": url, "found": found.explain()}
