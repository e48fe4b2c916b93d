"""What a method is, for every kind of problem."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from .solution.solution import Solution


class Method(Protocol):
    """A frozen value that knows how to solve one kind of problem, and prints its settings."""

    name: ClassVar[str]

    def solve(self, problem: Any) -> Solution:
        """Solve, verify, and return the answer.

        Raises
        ------
        InputError
            If the method does not apply to this kind of problem.
        """
        ...
