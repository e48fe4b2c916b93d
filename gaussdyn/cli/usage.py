"""What to type instead, where the command line itself is wrong, or Python's interface refuses what it passed on."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, get_args, get_type_hints

import typer

from ..errors import InputError
from ..mends import one_number, one_of

UsageError: type[Exception] = typer.BadParameter.__bases__[0]  # of click, which Typer may bring along or not
WRITE = re.compile(r"Write (\w+)=([^\s'\"(\[{]+|'[^' ]+')\.$")  # the line of Python for a number or a word
EXAMPLE = re.compile(r"Example: (gaussdyn [^\n]+)")


@contextmanager
def mended(context: Any, arguments: list[str]) -> Iterator[None]:
    """Add what to type to errors of usage, and give arguments of Python's interface the names they have here."""
    try:
        yield
    except UsageError as error:
        known: Any = error
        said = (known.message or "").strip()
        line = _line(known, _command_at(context.command, arguments))
        known.message = f"{said}{'' if not said or said.endswith('.') else '.'} {line}".strip()
        raise
    except InputError as error:
        raise typed(error, _command_at(context.command, arguments), arguments) from None


def _line(error: Any, command: Any) -> str:
    """Return what to type instead: the option with a value that it takes, or the command's own example."""
    parameter = getattr(error, "param", None)
    if parameter is not None and parameter.opts[0].startswith("-"):
        option, (kind, extra) = parameter.opts[0], _annotation(command, parameter.name)
        if issubclass(kind, Enum):
            return one_of(option, "", map(str, kind)).replace("=", " ").replace("'", "")
        if issubclass(kind, (int, float)):
            low, high = getattr(extra, "min", None), getattr(extra, "max", None)
            return one_number(option, -math.inf if low is None else low, math.inf if high is None else high)
    found = EXAMPLE.search(command.help or "")
    return f"Try: {found[1]}" if found else f"Try: {error.ctx.command_path if error.ctx else 'gaussdyn'} -h"


def _annotation(command: Any, name: str) -> tuple[type, Any]:
    """Return the type of an argument of a command, and what Typer is told of it."""
    hint, *told = get_args(get_type_hints(inspect.unwrap(command.callback), include_extras=True)[name])
    kinds = [one for one in (*get_args(hint), hint) if isinstance(one, type) and one is not type(None)]
    return kinds[0], told[0] if told else None


def _command_at(command: Any, arguments: list[str]) -> Any:
    """Return the command that arguments call, in groups within groups."""
    for word in arguments:
        command = getattr(command, "commands", {}).get(word, command)
    return command


def typed(error: InputError, command: Any, arguments: list[str]) -> InputError:
    """Return an error about an argument of Python's interface as one about what was typed, if it was.

    ``dt`` becomes ``--dt``, ``Write dt=0.001.`` becomes ``Write --dt 0.001.``; a parameter of a scene is set by
    ``--set mu=0.5``.
    """
    options = {option for parameter in getattr(command, "params", ()) for option in parameter.opts}
    name, line = _as_typed(error.name, options, arguments), WRITE.search(error.mend)
    set_to = line and (
        _as_typed(line[1], options, arguments) or ("--set " + line[1] + "=" if "--set" in arguments else "")
    )
    if not name and not set_to:
        return error
    mend = error.mend[: line.start()] + f"Write {set_to}{line[2].strip(chr(39))}." if line and set_to else error.mend
    return InputError(name.rstrip(" =") or error.name, error.given, error.allowed, mend)


def _as_typed(name: str, options: set[str], arguments: list[str]) -> str:
    """Return how a name is typed; "" if it is not."""
    option = "--" + name.replace("_", "-")
    if option in options:
        return f"{option} "
    return f"--set {name}=" if any(word.startswith(f"{name}=") for word in arguments) else ""
