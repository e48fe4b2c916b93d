"""The application, its exit statuses, and how it speaks: one document on standard output, the rest on the other."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from .._version import __version__
from ..errors import PRESSED, InputError, interrupts
from .usage import mended

DONE, REJECTED, BAD_INPUT, UNFINISHED = 0, 1, 2, 3


class Panel(StrEnum):
    """What commands are shown together in the help, in this order."""

    RUNS = "Run and solve"
    STATES = "One state"
    RANGES = "Over ranges of parameters"
    CHECKS = "Check and measure"
    HELP = "What there is"


class Commands(TyperGroup):
    """All commands; one that Ctrl-C ends has not finished, whatever is made of the interrupt on its way."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names as the help shows them: by panels, what `FIRST` speaks of before others."""
        panels = list(Panel)

        def place(name: str) -> tuple[int, bool, str]:
            command: Any = self.commands[name]
            return panels.index(command.rich_help_panel), f"gaussdyn {name} " not in FIRST, name

        return sorted(self.commands, key=place)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what stands before the command, and keep all words, which errors speak of."""
        ctx.obj = list(args)
        with mended(ctx, ctx.obj):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            with mended(ctx, ctx.obj):
                return super().invoke(ctx)
        except (Exception, KeyboardInterrupt) as error:
            if not interrupts(error):
                raise
            sys.stderr.write(f"gaussdyn: {PRESSED}: gaussdyn {ctx.invoked_subcommand} has not finished\n")
            raise typer.Exit(UNFINISHED) from None


app = typer.Typer(
    name="gaussdyn",
    cls=Commands,
    help="Dynamics with contact, friction and constraints by Gauss's principle.",
    epilog="Exit status: 0 done, 1 a check failed, 2 bad input, 3 undecided or not finished (Ctrl-C, too).",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)

Json = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]


class Rule(StrEnum):
    """Which motions count where friction at rest is stronger than in slip."""

    all = "all"
    stick = "stick"


MuSRule = Annotated[Rule, typer.Option(help="all: every solution; stick: a contact sticks if it can.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gaussdyn {__version__}")
        raise typer.Exit(DONE)


FIRST = """gaussdyn: dynamics with contact, friction and constraints by Gauss's principle. Three things to try:

  gaussdyn run sliding_rod --report run.html   a rod slides to rest: exact answers beside, and a page to look at
  gaussdyn outcome painleve_rod                a state without any motion, proved
  gaussdyn scenes                              what else there is

All commands: gaussdyn --help. What a word means: gaussdyn explain STATUS. Keys that complete names in your shell:
gaussdyn --install-completion
"""


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Dynamics with contact, friction and constraints by Gauss's principle."""
    if context.invoked_subcommand is None:
        typer.echo(FIRST, nl=False)


def console(*, stderr: bool = False) -> Console:
    """Return a console; where the output is not a terminal, lines are not broken at 80 columns."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else 120)


def complain(error: BaseException) -> None:
    """Print one message on standard error."""
    kind = "error" if isinstance(error, OSError) else type(error).__name__
    sys.stderr.write(f"gaussdyn: {kind}: {error}\n")


def plain(value: Any) -> Any:
    """Return a value as JSON knows it: NaN becomes null, infinity the strings "inf" and "-inf"."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, bool) or value is None:
        return value
    return int(value) if isinstance(value, int) else str(value)


def _finite(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def emit(document: Any) -> None:
    """Print one JSON document on standard output."""
    sys.stdout.write(json.dumps(plain(document), allow_nan=False, indent=1) + "\n")


@contextmanager
def quiet(json_wanted: bool) -> Iterator[None]:
    """Send what libraries print to standard error while a JSON document is wanted."""
    if not json_wanted:
        yield
        return
    with redirect_stdout(sys.stderr):
        yield


def path_text(path: Path | None) -> str | None:
    """Return a path, if there is one, as documents have it."""
    return None if path is None else str(path)


def numbers(settings: list[str] | None) -> dict[str, float]:
    """Read ``key=value`` settings; values are numbers, never evaluated.

    Raises
    ------
    InputError
        A setting without "=", with a value that is not a finite number, or given twice.
    """
    values: dict[str, float] = {}
    for text in settings or []:
        key, sign, number = (part.strip() for part in text.partition("="))
        if not sign or not key:
            raise InputError("--set", repr(text), "NAME=NUMBER, e.g. --set mu=0.3", "Write --set mu=0.3.")
        if key in values:
            raise InputError(f"--set {key}", repr(text), "each parameter once", f"Leave one: --set {key}=...")
        values[key] = _number(key, number)
    return values


def _number(key: str, text: str) -> float:
    allowed = "a finite number, e.g. 0.3 or 1e-3 (not evaluated)"
    try:
        value = float(text)
    except ValueError:
        raise InputError(f"--set {key}", repr(text), allowed, f"Write --set {key}=0.3.") from None
    if not math.isfinite(value):
        raise InputError(f"--set {key}", repr(text), allowed, f"Write --set {key}=0.3.")
    return value


def writable(name: str, path: Path) -> Path:
    """Return `path` if a file can be written there, before any work is done.

    Raises
    ------
    InputError
        Its folder does not exist or cannot be written, or it is a folder itself.
    """
    folder = path.parent
    if path.exists() and not path.is_file():
        what = "folder" if path.is_dir() else "device"
        raise InputError(name, path, "the name of a file", f"This is a {what}: write {path}/out.h5, or so (name=...).")
    if not folder.is_dir():
        raise InputError(name, path, "a file in an existing folder", f"Create it first: mkdir -p {folder}")
    try:
        new = not path.exists()
        with path.open("ab"):
            pass
        if new:
            path.unlink()
    except OSError as error:
        raise InputError(name, path, "a place that can be written", f"chmod u+w {path} ({error.strerror})") from None
    return path


def drawable(name: str, path: Path | None, kind: str) -> None:
    """Refuse, before any work is done, a picture or page that could not be written in the end.

    Parameters
    ----------
    name : str
        The option.
    path : Path or None
        Where it shall be written; None if it was not asked for.
    kind : str
        Formats of `gaussdyn.report.needs`: PICTURE, PAGE, TREE_PAGE, RUN_REPORT, PAGE_OR_PICTURE.

    Raises
    ------
    InputError
        A place that cannot be written, or another ending.
    BackendMissing
        A library that the format needs is not installed.
    """
    if path is not None:
        from ..report import needs

        needs.check_format(name, path, getattr(needs, kind))
        writable(name, path)


def check_scene(word: str, file: str) -> None:
    """Refuse a word that is no scene where a file was allowed, too (e.g. "a run file"), and there is none.

    Raises
    ------
    InputError
        The scenes whose names are much like it are offered.
    """
    from ..scenes import catalogue

    if word not in catalogue.names():
        mend = f"There is neither such a file nor such a scene. {catalogue.nearest(word)}".rstrip()
        raise InputError("FILE|SCENE", repr(word), f"{file}, or a scene that `gaussdyn scenes` lists", mend)


def readable(name: str, path: Path) -> Path:
    """Return `path` if it is a file that can be read.

    Raises
    ------
    InputError
        It does not exist, is a folder, or cannot be read.
    """
    if path.is_dir():
        raise InputError(name, path, "a file", f"This is a folder: ls {path}")
    if not path.exists():
        raise InputError(name, path, "an existing file", _near(path))
    if not os.access(path, os.R_OK):
        raise InputError(name, path, "a file that can be read", f"chmod u+r {path}")
    return path


def _near(path: Path) -> str:
    from difflib import get_close_matches

    folder = path.parent
    there = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    near = get_close_matches(path.name, there, n=3)
    return f"In that folder: {', '.join(near)}." if near else f"What is there: ls {folder}"
