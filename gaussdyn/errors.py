"""What goes wrong, in words.

Mathematics fails by *status* (see `gaussdyn.programs.solution.Status`); callers fail by *exception*.
Every message says what was given, what is allowed and how to mend it.
"""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path
from typing import Any

OTHERS = (str(Path(__file__).parent), *(sysconfig.get_path(key) for key in ("stdlib", "purelib", "platlib")))


class GaussdynError(Exception):
    """Root of all exceptions of the package."""


class InputError(GaussdynError, ValueError):
    """A caller's value cannot be used.

    Parameters
    ----------
    name : str
        The argument or key at fault, e.g. ``"mu"``.
    given : object
        What was given (shown as is, shortened).
    allowed : str
        What would be accepted.
    mend : str, optional
        What to do about it.
    """

    def __init__(self, name: str, given: object, allowed: str, mend: str = "") -> None:
        self.name, self.given, self.allowed, self.mend = name, given, allowed, mend
        text = str(given)
        text = text if len(text) <= 200 else text[:197] + "..."
        super().__init__(f"{name}: given {text}; allowed: {allowed}." + (f" {mend}" if mend else ""))


class SceneError(GaussdynError):
    """A scene or data file cannot be read.

    Parameters
    ----------
    file : str
        The file or scene name.
    key : str
        The entry at fault ("" if the whole file is).
    reason : str
        What is wrong and how to mend it.
    """

    def __init__(self, file: str, key: str, reason: str) -> None:
        self.file, self.key, self.reason = file, key, reason
        super().__init__(f"{file}{f' [{key}]' if key else ''}: {reason}")


class BackendMissing(GaussdynError, ImportError):
    """An optional library is not installed; the message names the extra that brings it."""

    def __init__(self, library: str, extra: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(f"{library} is not installed. Install it with: pip install 'gaussdyn[{extra}]'")


class SolveFailed(GaussdynError, RuntimeError):
    """A problem was not solved and the caller asked for an exception; carries the `Solution`."""

    def __init__(self, solution: Any) -> None:
        self.solution = solution
        super().__init__(f"{solution.status}: {solution.status.advice}")


class InvariantBroken(GaussdynError, AssertionError):
    """A promise of the package itself does not hold: a bug of ours, please report it."""


def raised_in(error: BaseException) -> str:
    """Return which function of a caller raised it, as " (name, file.py line 7)"; empty if the package itself did."""
    for frame in traceback.extract_tb(error.__traceback__):
        if not any(Path(frame.filename).is_relative_to(place) for place in OTHERS):
            return f" ({frame.name}, {Path(frame.filename).name} line {frame.lineno})"
    return ""
