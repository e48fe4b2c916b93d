"""``gaussdyn bench``: a group of measurements; every verb of it is a file ``bench_*.py`` beside this one."""

from __future__ import annotations

import typer

from ..app import Panel, app

bench = typer.Typer(
    name="bench",
    help="Measure: time, errors against exact answers, residuals. Times are printed, never judged.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.add_typer(bench, rich_help_panel=Panel.CHECKS)


@bench.callback()
def root() -> None:
    """Measure: time, errors against exact answers, residuals. Times are printed, never judged."""
