"""``gaussdyn explain``: what a status, an outcome or an event means, and what to do."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer

from ...errors import InputError
from ..app import Json, Panel, app, console, emit


def known_words(incomplete: str) -> list[str]:
    """Return the words that begin so, for completion in a shell."""
    from .explanations import explanations

    return [word for word in explanations() if word.lower().startswith(incomplete.lower())]


def words_meant(status: str, known: list[str]) -> list[str]:
    """Return the words that a status stands for, in capitals or not; all where it is empty.

    Raises
    ------
    InputError
        There is none; the message names the one that is written most alike.
    """
    if status in known:  # UNDECIDED is said of answers, undecided of events
        return [status]
    alike = [word for word in known if not status or word.lower() == status.lower()]
    if not alike:
        near = difflib.get_close_matches(status.lower(), [word.lower() for word in known], n=1, cutoff=0.4)
        mends = [f"Try: gaussdyn explain {word}" for word in known if near == [word.lower()]]
        raise InputError("STATUS", repr(status), ", ".join(known), mends[0] if mends else "Try: gaussdyn explain")
    return alike


Word = Annotated[str, typer.Argument(metavar="STATUS", help="NONE, STOPPED, ...", autocompletion=known_words)]


@app.command(rich_help_panel=Panel.HELP)
def explain(status: Word = "", json_wanted: Json = False) -> None:
    """Say what a status, an outcome or an event means, and what to do; without one, list them.

    Example: gaussdyn explain NONE
    """
    from .explanations import explanations

    known = explanations()
    shown = [(word, known[word]) for word in words_meant(status, list(known))]
    if json_wanted:
        found = [{"word": w, "about": e.about, "means": e.means, "try": e.tries, "page": e.page} for w, e in shown]
        emit({"schema": "gaussdyn/explain/1", "results": found})
        return
    screen = console()
    for word, one in shown:
        screen.print(f"[bold]{word}[/bold] ({one.about}): {one.means}", soft_wrap=True)
        if status:
            screen.print("try:")
            for line in one.tries:
                screen.print(f"  {line}", markup=False, soft_wrap=True)
            screen.print(f"page: docs/{one.page}")
