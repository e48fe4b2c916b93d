"""What goes wrong, in words.

Mathematics fails by *status* (see `gaussdyn.programs.solution.solution.Status`); callers fail by *exception*.
Every message says what was given, what is allowed and how to mend it.
"""

from __future__ import annotations

import functools
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

OTHERS = (str(Path(__file__).parent), *(sysconfig.get_path(key) for key in ("stdlib", "purelib", "platlib")))


PRESSED = "Ctrl-C was pressed"
PACKAGE = __name__.partition(".")[0]

P = ParamSpec("P")
T = TypeVar("T")


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
    mend : str
        What to write or to type instead, with the caller's own names: code, an option or a command (see `mends`).
    """

    def __init__(self, name: str, given: object, allowed: str, mend: str = "") -> None:
        self.name, self.given, self.allowed = name, given, allowed
        text = str(given)
        text = " ".join(text.split()) if "\n" in text else text
        text = text if len(text) <= 200 else text[:197] + "..."
        self.mend = mend
        super().__init__(f"{name}: given {text}; allowed: {allowed}." + f" {mend}".rstrip())


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
    """An optional library is not installed; the message names the extra that brings it.

    Parameters
    ----------
    library : str
        What is missing.
    extra : str
        The extra that brings it; "" where none does yet.
    mend : str
        What to do instead, where no extra brings it.
    """

    def __init__(self, library: str, extra: str = "", mend: str = "") -> None:
        self.library, self.extra = library, extra
        cure = f"Install it with: pip install 'gaussdyn[{extra}]'" if extra else mend
        super().__init__(f"{library} is not {'installed' if extra else 'part of this version'}. {cure}".rstrip())


class SolveFailed(GaussdynError, RuntimeError):
    """A problem was not solved and the caller asked for an exception; carries the `Solution`."""

    def __init__(self, solution: Any) -> None:
        self.solution = solution
        super().__init__(solution.explain())


class InvariantBroken(GaussdynError, AssertionError):
    """A promise of the package itself does not hold: a bug of ours, please report it."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run, or came while it was stored; what was computed is kept.

    Attributes
    ----------
    trajectory : Trajectory
        The run up to there. Where nobody caught the exception it is ``sys.last_value.trajectory``, in a notebook too.
    """

    def __init__(self, message: str, trajectory: Any) -> None:
        super().__init__(message)
        self.trajectory = trajectory


def interrupts(error: BaseException | None) -> bool:
    """Whether an exception is a keyboard interrupt, or was raised from one: compiled code makes a SystemError of it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def keeps_interrupts(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function that calls compiled code raise KeyboardInterrupt, not the SystemError that is made of it."""

    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> T:
        try:
            return function(*args, **options)
        except SystemError as error:
            if interrupts(error):
                raise KeyboardInterrupt(PRESSED) from None
            raise

    return call


def raised_in(error: BaseException) -> str:
    """Return which function of a caller raised it, as " (name, file.py line 7)"; empty if the package itself did."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        file, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__", ""))
        made = file == "<string>" and module.partition(".")[0] == PACKAGE  # what dataclasses generate
        if not (made or file.startswith("<frozen ") or any(Path(file).is_relative_to(place) for place in OTHERS)):
            return f" ({frame.f_code.co_name}, {Path(file).name} line {line})"
    return ""
