"""What became of a problem."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """How a solve ended. Mathematics fails by status, never by exception; `advice` says what to do."""

    SOLVED = "SOLVED"
    INFEASIBLE = "INFEASIBLE"
    NO_SOLUTION = "NO_SOLUTION"
    MAX_ITERATIONS = "MAX_ITERATIONS"
    UNDECIDED = "UNDECIDED"
    TIME_LIMIT = "TIME_LIMIT"
    IMPACT_NEEDED = "IMPACT_NEEDED"
    PENETRATING = "PENETRATING"

    @property
    def advice(self) -> str:
        """What the status means and what to do, in one sentence."""
        return _ADVICE[self]


_ADVICE = {
    Status.SOLVED: "the residual was recomputed from the problem and is below the tolerance.",
    Status.INFEASIBLE: "no admissible motion exists; the Farkas certificate names the rows that contradict.",
    Status.NO_SOLUTION: "admissible motions exist, but every mode of the laws is refuted; see the certificate.",
    Status.MAX_ITERATIONS: "the best point found is returned with its residuals; try another method.",
    Status.UNDECIDED: "neither a solution nor a proof was found; the best point is returned with its residuals.",
    Status.TIME_LIMIT: "the time limit `seconds` stopped the call; the best point is returned with its residuals.",
    Status.IMPACT_NEEDED: "a closed gap approaches, so no acceleration exists; solve the velocity level first.",
    Status.PENETRATING: "bodies overlap, so no acceleration exists; start from a state with gaps >= 0.",
}
