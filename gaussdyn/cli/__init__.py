"""The command line: verbs over public names; no physics.

Every other file of this package holds a verb (or a family of them) and registers it with ``@app.command``, in a
panel of the help.
"""

from __future__ import annotations

import io
import os
import sys
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from typer.main import get_command

from ..errors import GaussdynError, InvariantBroken, SolveFailed
from .app import BAD_INPUT, UNFINISHED, app, complain

__all__ = ["app", "main"]

# Contact problems are small: threads would only wait for each other, and make sums depend on their number.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

for _module in sorted(module.name for module in iter_modules(__path__)):
    import_module(f"{__name__}.{_module}")


@cache
def _commands() -> Any:
    """Return all commands, made of their functions once."""
    return get_command(app)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a check failed, 2 bad input, 3 not decided or not finished.

    Parameters
    ----------
    arguments : list of str, optional
        Instead of those of the process.
    """
    for name in THREADS:
        os.environ.setdefault(name, "1")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        _commands()(args=arguments, prog_name="gaussdyn")
    except InvariantBroken:
        raise
    except SolveFailed as error:
        complain(error)
        sys.exit(UNFINISHED)
    except GaussdynError as error:
        complain(error)
        sys.exit(BAD_INPUT)
    except OSError as error:
        complain(error)
        sys.exit(BAD_INPUT)
