"""One door for problem files: FCLib HDF5, and JSON documents of LCPs, mixed problems and quadratic programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..._files import is_hdf5, json_document, reading
from ..._show import brief
from ...errors import InputError, SceneError
from ...linalg.rational import rational, sensible
from ..problems.complementarity import ComplementarityProblem, LinearComplementarity
from ..problems.mixed import MixedComplementarity
from ..problems.quadratic import QuadraticProgram
from ..solution.solution import Solution
from . import fclib
from .mixed_document import KINDS as MIXED
from .mixed_document import is_mixed, mixed_problem

TEXTS = ("name", "kind")
NEEDED = {"lcp": ("M", "q"), "qp": ("H", "g"), **dict.fromkeys(MIXED, ("M", "q", "blocks"))}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProblemFile:
    """A problem and where it came from.

    Attributes
    ----------
    file, name : str
        Path as given; name of the case (of the file, if it has none).
    kind : str
        qp, lcp, mixed (or mlcp, gmp, relay, soclcp), fc2d, fc3d, gfc2d, gfc3d, rfc3d or grfc3d.
    contacts : int
        Blocks; size of an LCP or of a mixed problem; inequality rows of a quadratic program.
    fclib : FclibFile or None
        For friction problems: what `save` needs.
    """

    file: str
    name: str
    kind: str
    problem: QuadraticProgram | LinearComplementarity | MixedComplementarity | ComplementarityProblem
    contacts: int
    fclib: fclib.FclibFile | None = None

    __repr__ = brief

    def save(self, path: str | os.PathLike[str], solution: Solution) -> None:
        """Write the problem as it was read and the solution (u, r, v, l), solved or not, as FCLib HDF5.

        Raises
        ------
        InputError
            If this is no friction problem.
        """
        if self.fclib is None:
            raise InputError(
                "save",
                self.kind,
                "a friction problem",
                "FCLib files hold no LCP and no QP: keep what solve(problem) returns.",
            )
        x = solution.r[:0] if solution.x is None else solution.x
        fclib.save(path, self.file, self.fclib, solution.r, x, solution.lam)


def read_problem(path: str | os.PathLike[str], case: str | None = None) -> ProblemFile:
    """Read a problem file; `case` names one of several cases in a JSON document.

    Raises
    ------
    SceneError
        If the file is missing, truncated, of another format or inconsistent; names the key and how to mend it.
    """
    if is_hdf5(path):
        if case is not None:
            raise SceneError(
                str(path), case, f"an FCLib file holds one problem; leave the case out: gaussdyn solve {path}"
            )
        found = fclib.read(path)
        contacts, name = len(found.problem.laws), found.info.get("title") or Path(path).stem
        return ProblemFile(
            file=str(path), name=name, kind=found.kind, problem=found.problem, contacts=contacts, fclib=found
        )
    with reading(path):
        return _from_document(str(path), choose(path, json_cases(path), case))


def json_cases(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Return the cases of a JSON document or of groups in it: one dictionary each, `kind` inherited, `name` set.

    Raises
    ------
    SceneError
        If the file is not such a document.
    """
    file = str(path)
    document = json_document(path)
    if not isinstance(document, dict):
        raise SceneError(
            file,
            "",
            f'holds a {type(document).__name__}; one JSON object is needed: {{"kind": "lcp", "M": [[1]], "q": [-1]}}',
        )
    found = [case for group in _groups(document) for case in _cases(file, group)]
    stem = Path(path).stem
    names = [stem] if len(found) == 1 else [f"{stem}[{i}]" for i in range(len(found))]
    return [{"name": name, **case} for name, case in zip(names, found, strict=True)]


def _groups(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects that hold cases: the document itself, or several groups in it."""
    if "cases" in document:
        return [document]
    return [x for x in document.values() if isinstance(x, dict) and "cases" in x] or [{"cases": [document]}]


def _cases(file: str, group: dict[str, Any]) -> list[dict[str, Any]]:
    cases = group["cases"]
    if not isinstance(cases, list) or not cases or not all(isinstance(case, dict) for case in cases):
        raise SceneError(file, "cases", 'must be a list of objects, at least one: "cases": [{"M": [[1]], "q": [-1]}]')
    kind = {"kind": group["kind"]} if "kind" in group else {}
    return [{**kind, **case} for case in cases]


def choose(path: str | os.PathLike[str], cases: list[dict[str, Any]], name: str | None) -> dict[str, Any]:
    """Return the case of that name, or the only one; its numbers have a size with which one can reckon."""
    names = [str(case["name"]) for case in cases]
    if name is None and len(cases) == 1:
        name = names[0]
    if name is None:
        raise SceneError(
            str(path), "cases", f"holds {len(cases)} cases; name one of {', '.join(names[:20])}: --case {names[0]}"
        )
    if name not in names:
        raise SceneError(str(path), name, f"no such case; there are {', '.join(names[:20])}: --case {names[0]}")
    found = cases[names.index(name)]
    sensible("", {key: entry for key, entry in found.items() if key not in TEXTS})
    return found


def _from_document(file: str, case: Mapping[str, Any]) -> ProblemFile:
    """Return the problem that a JSON document states."""
    kind = _kind(file, case)
    for key in NEEDED[kind]:
        if key not in case:
            raise SceneError(
                file, key, f'is missing; a problem of kind {kind} needs {" and ".join(NEEDED[kind])}: "{key}": [1, 0]'
            )
    name = str(case["name"])
    try:
        if is_mixed(case):
            mixed = mixed_problem(case, _numbers)
            return ProblemFile(file=file, name=name, kind=kind, problem=mixed, contacts=len(mixed.q))
        if kind == "lcp":
            problem = LinearComplementarity(M=_numbers(case["M"], "M"), q=_numbers(case["q"], "q"))
            return ProblemFile(file=file, name=name, kind="lcp", problem=problem, contacts=len(problem.q))
        rows = {key: _numbers(case[key], key) for key in "HgAbCd" if case.get(key) is not None}
        program = QuadraticProgram(**rows)
    except InputError as error:
        raise SceneError(file, error.name, str(error)) from None
    return ProblemFile(file=file, name=name, kind="qp", problem=program, contacts=len(program.d))


def _kind(file: str, case: Mapping[str, Any]) -> str:
    """Return the kind of a case: what it says, or what its entries show."""
    kind = case.get("kind") or (
        ("mixed" if is_mixed(case) else "lcp") if "M" in case else "qp" if "H" in case else None
    )
    if kind in NEEDED:
        return str(kind)
    reason = (
        f"kind {kind!r} cannot be solved; give M and q (an LCP), M, q and blocks (a mixed problem) or H, g, A, b, C, d"
    )
    raise SceneError(file, "kind", f'{reason} (a quadratic program): "kind": "lcp"')


def _numbers(value: Any, key: str) -> Any:
    """Return nested lists of floats; strings "p/q" are exact rationals, rounded here to the nearest double."""
    if isinstance(value, list):
        return [_numbers(x, key) for x in value]
    if isinstance(value, str):
        value = rational(value, key)
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise InputError(key, repr(value), "numbers", f'Write "{key}": [1.0, 0.0].')
    try:
        return float(value)
    except OverflowError:
        raise InputError(
            key, "a number too large for a double", "numbers below 1e308", f"Scale it: {key} = 1e-3 * {key}."
        ) from None
