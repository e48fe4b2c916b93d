"""Words for an answer, in terms of the problem that it answers: contacts, rows u ⟂ r, an LCP, a mixed problem, a QP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..laws.laws import Unilateral
from ..problems.complementarity import ComplementarityProblem, LinearComplementarity
from ..problems.mixed import MixedComplementarity
from ..problems.quadratic import QuadraticProgram
from .status import Status

Names = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How the parts of an answer are called.

    Attributes
    ----------
    blocks : str
        What the modes are counted over.
    motion, reactions : str
        What is unique or not: the primary unknown, and the multipliers.
    primary : str
        What does not exist where the problem is infeasible.
    block : str
        One of its rows or blocks.
    u, r : str
        Letters of the two sides of a row.
    modes : mapping
        Mode of a block -> what it says here.
    residuals : mapping
        Figures that mean something here -> their names.
    advice : mapping of Status to str
        What a status means, where it means something else than for contacts.
    """

    blocks: str
    motion: str
    reactions: str
    primary: str
    block: str = "row"
    u: str = "u_N"
    r: str = "r"
    modes: Names
    residuals: Names
    advice: Mapping[Status, str]

    def explain(self, status: Status) -> str:
        """Return what a status means, and what to do about it."""
        return self.advice.get(status) or status.advice


def _rows(blocks: str, u: str, r: str, primary: str) -> Wording:
    """Return the words for 0 <= u ⟂ r >= 0, row by row."""
    return Wording(
        blocks=blocks, motion=u, reactions=r, primary=primary, u=u, r=r,
        modes={"open": f"zero {r}", "stick": f"positive {r}", "degenerate": f"with {u} = {r} = 0"},
        residuals={"E": "E", "rel_q": "rel_q", "rel_s": "rel_s", "viol_u": f"negative {u}", "work": f"{u}·{r}"},
        advice={
            Status.INFEASIBLE: f"no {primary} makes both sides >= 0; the Farkas certificate names the rows that "
                               "contradict.",
            Status.NO_SOLUTION: f"some {primary} makes both sides >= 0, but none is complementary: every choice of "
                                f"{u} = 0 or {r} = 0, row by row, is refuted; see the certificate.",
        },
    )  # fmt: skip


_SAME = ("E", "rel_q", "rel_s", "viol_u", "penetration", "cone", "slip", "angle", "work")
CONTACTS = Wording(
    blocks="contacts", motion="motion", reactions="reactions", primary="motion", block="block",
    modes={name: name for name in ("open", "stick", "slip", "degenerate")},
    residuals={name: name for name in _SAME}, advice={},
)  # fmt: skip
ROWS = _rows("rows", "u", "r", "point")
MIXED = Wording(
    blocks="rows", motion="w", reactions="z", primary="z", block="block", u="w", r="z",
    modes={"open": "open (z = 0)", "stick": "closed (w = 0) or sticking", "slip": "slipping or at the end of a box",
           "degenerate": "between two modes"},
    residuals={"E": "E"},
    advice={
        Status.INFEASIBLE: "no z meets the linear conditions; the Farkas certificate names the rows that contradict.",
        Status.NO_SOLUTION: "the linear conditions can be met, but every mode of the blocks is refuted; see the "
                            "certificate.",
    },
)  # fmt: skip
LCP = _rows("unknowns", "w", "z", "z")
PROGRAM = Wording(
    blocks="inequalities", motion="x", reactions="multipliers", primary="x",
    modes={"active": "active", "inactive": "inactive"}, residuals={"E": "E"},
    advice={
        Status.NO_SOLUTION: "the constraints can be met, but no x that meets them is a minimum.",
        Status.INFEASIBLE: "no x satisfies the constraints; the Farkas certificate names the rows that contradict.",
    },
)  # fmt: skip


def wording(problem: Any) -> Wording:
    """Return the words for the answer to a problem."""
    if isinstance(problem, QuadraticProgram):
        return PROGRAM
    if isinstance(problem, LinearComplementarity):
        return LCP
    if isinstance(problem, MixedComplementarity):
        return MIXED
    rows = isinstance(problem, ComplementarityProblem) and all(isinstance(law, Unilateral) for law in problem.laws)
    return ROWS if rows and len(problem.laws) else CONTACTS
