"""Problem files whose outcome can be asked for: bodies on contacts, LCPs, friction problems."""

from __future__ import annotations

import os
from typing import Any

from ..errors import InputError, SceneError
from ..mechanics.planar_body_file import KIND, ExactBody
from ..mechanics.spatial_body_file import KIND as SPATIAL
from ..mechanics.spatial_body_file import ExactSpatialBody
from ..programs.complementarity import ComplementarityProblem
from ..programs.files import HDF5, choose, head, json_cases, read_problem
from ..programs.modal import ModalProblem, lcp_problem

Problem = ModalProblem | ExactBody | ExactSpatialBody | ComplementarityProblem


def read_outcome_problem(path: str | os.PathLike[str], case: str | None = None) -> Problem:
    """Read a planar or spatial body, an LCP (all with exact numbers) or an FCLib problem.

    Raises
    ------
    SceneError
        A file that cannot be read, a kind that is not known here, a missing key or a wrong value; names the key.
    """
    if head(path) == HDF5:
        problem = read_problem(path, case).problem
        if isinstance(problem, ComplementarityProblem):
            return problem
        raise SceneError(str(path), "", "holds no friction problem")
    chosen = choose(path, json_cases(path), case)
    try:
        return _read(str(path), chosen)
    except InputError as error:
        raise SceneError(str(path), error.name, str(error)) from None


def _read(file: str, case: dict[str, Any]) -> Problem:
    kind = case.get("kind") or (
        "lcp" if "M" in case else KIND if "points" in case else SPATIAL if "r" in case else None
    )
    if kind == KIND:
        return ExactBody.of(case)
    if kind == SPATIAL:
        return ExactSpatialBody.of(case)
    if kind != "lcp":
        raise SceneError(file, "kind", f"kind {kind!r} is not examined; give a {KIND}, a {SPATIAL} or an lcp (M and q)")
    for key in ("M", "q"):
        if not isinstance(case.get(key), list) or not all(isinstance(row, list) for row in case["M"]):
            raise SceneError(file, key, "an LCP needs M, a list of rows, and q, a list of numbers")
    return lcp_problem(case["M"], case["q"])
