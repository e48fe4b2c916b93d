"""The command line that makes a page again: every option that has its say in the result, as it was given."""

from __future__ import annotations

import shlex
from enum import Enum
from typing import Any

import typer

# Where results go, and how they are shown, changes none of them.
PLACES = frozenset({"out", "report", "picture", "certificate", "save", "json_wanted"})


def again(context: typer.Context, **settled: Any) -> str:
    """Return the command line of the command that is running, without the places it writes to.

    Parameters
    ----------
    context : typer.Context
        Of the command; what has its default is left out.
    settled : object
        Values found in the meantime for options that were not given, e.g. a range that is the scene's own.
    """
    arguments: list[str] = []
    options: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        value = settled.get(name, context.params.get(name))
        if name in PLACES or not _words(value) or value == parameter.get_default(context):
            continue
        if parameter.param_type_name == "argument":
            arguments += _words(value)
        else:
            options += _option(parameter, value)
    return shlex.join([*context.command_path.split(), *arguments, *options])


def _option(parameter: Any, value: Any) -> list[str]:
    """Return an option with its value, or its values."""
    flag = max(parameter.opts, key=len)
    if value is True:
        return [flag]
    if parameter.multiple:
        return [f"{flag}={word}" for word in _words(value)]
    words = _words(value)
    return [flag, *words] if parameter.nargs > 1 else [f"{flag}={words[0]}"]


def _words(value: Any) -> list[str]:
    """Return values as the command line takes them; numbers to the last digit."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [word for one in value for word in _words(one)]
    if isinstance(value, Enum):
        return [str(value.value)]
    return [repr(value) if isinstance(value, float) else str(value)]
