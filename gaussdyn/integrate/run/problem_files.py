"""The contact problems of a run as FCLib files, so that they can be solved and compared elsewhere."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..._files import unwritable
from ...contact.assemble import assemble
from ...errors import InputError
from ...programs.problems.complementarity import ComplementarityProblem
from ..stepper import Step

Target = str | os.PathLike[str] | tuple[str | os.PathLike[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemFiles:
    """A folder that receives the contact problem of every `every`-th step that has contacts.

    Files are named ``<scene>-<step>.hdf5``; each holds the problem and the reaction found.

    Raises
    ------
    InputError
        If the folder cannot be made, or `every` is not a positive integer.
    """

    folder: Path
    every: int = 1
    scene: str = "run"

    @staticmethod
    def of(target: Target | None, scene: str) -> ProblemFiles | None:
        """Return the files for `record=DIR` or `record=(DIR, n)`; None without a target."""
        if target is None:
            return None
        folder, every = target if isinstance(target, tuple) else (target, 1)
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise InputError(
                "record", every, "a folder, or (folder, n) with an integer n >= 1", 'Write record=("problems", 10).'
            )
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError("record", folder, "a folder that can be made", unwritable(folder, error)) from None
        return ProblemFiles(folder=Path(folder), every=every, scene=scene)

    def add(self, number: int, step: Step) -> None:
        """Write the contact problem of step `number`, if it is one of those wanted and has contacts.

        Raises
        ------
        InputError
            If a law has no place in the format, or the file cannot be written.
        """
        if number % self.every:
            return
        given = step.solution.problem
        problem = given if isinstance(given, ComplementarityProblem) else assemble(step.dynamics)
        if not problem.laws:
            return
        from ...programs.files.fclib import write

        r = step.solution.r if len(step.solution.r) == len(problem.q) else None
        title = f"{self.scene}, step {number}, t = {step.state.t!r} s, dt = {step.dt!r} s"
        info = {"title": title, "description": "velocity level, impulses in N s, velocities in m/s"}
        write(self.folder / f"{self.scene}-{number:06d}.hdf5", problem, r=r, info=info)
