"""Problem files whose outcome can be asked for: bodies on contacts, LCPs, friction problems."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..._files import is_hdf5, reading
from ...errors import InputError, SceneError
from ...mechanics.planar.body_file import KIND, ExactBody
from ...mechanics.spatial.body_file import KIND as SPATIAL
from ...mechanics.spatial.body_file import ExactSpatialBody
from ...programs.enumeration.modal_problem import ModalProblem, lcp_problem
from ...programs.files.formats import choose, json_cases, read_problem
from ...programs.problems.complementarity import ComplementarityProblem

KINDS = {"M": "lcp", "points": KIND, "r": SPATIAL}  # the first key that a case has says what it is, if it does not
Problem = ModalProblem | ExactBody | ExactSpatialBody | ComplementarityProblem


def read_outcome_problem(path: str | os.PathLike[str], case: str | None = None) -> Problem:
    """Read a planar or spatial body, an LCP (all with exact numbers) or an FCLib problem.

    Raises
    ------
    SceneError
        A file that cannot be read, a kind that is not known here, a missing key or a wrong value; names the key.
    """
    if is_hdf5(path):
        problem = read_problem(path, case).problem
        if isinstance(problem, ComplementarityProblem):
            return problem
        raise SceneError(str(path), "", f"holds no friction problem: gaussdyn solve {path} solves others")
    with reading(path):
        return problem_of(choose(path, json_cases(path), case))


def problem_of(case: Mapping[str, Any]) -> ModalProblem | ExactBody | ExactSpatialBody:
    """Return the problem that a dictionary states as a JSON file of bodies or LCPs does, with exact numbers.

    Raises
    ------
    InputError
        Another kind, a missing key, a wrong value; names the key.
    """
    kind = case.get("kind") or next((kind for key, kind in KINDS.items() if key in case), None)
    if kind == KIND:
        return ExactBody.of(case)
    if kind == SPATIAL:
        return ExactSpatialBody.of(case)
    if kind != "lcp":
        keys = ", ".join(sorted(map(str, case))) or "nothing"
        mend = "A scene or a system at a state is examined by outcome(scene) or outcome(snapshot(system, state))."
        allowed = f"a {KIND} (keys of ExactBody), a {SPATIAL} (keys of ExactSpatialBody) or an lcp (M and q)"
        raise InputError("kind", f"{kind!r} with the keys {keys}", allowed, mend)
    return _lcp_of(case)


def _lcp_of(case: Mapping[str, Any]) -> ModalProblem:
    """Return the LCP with the rows M and q of a dictionary."""
    rows: dict[str, Any] = {key: case.get(key) for key in ("M", "q")}
    rows = {key: x.tolist() if hasattr(x, "tolist") else x for key, x in rows.items()}
    for key in ("M", "q"):
        if not isinstance(rows[key], list) or (key == "M" and not all(isinstance(row, list) for row in rows[key])):
            raise InputError(
                key,
                rows[key],
                "for an LCP M, a list of rows, and q, a list of numbers",
                'Write {"M": [[1.0]], "q": [-1.0]}.',
            )
    return lcp_problem(rows["M"], rows["q"])
