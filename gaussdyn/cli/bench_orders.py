"""``gaussdyn bench orders``: the convergence court, event-driven against time stepping on the same scenes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .app import DONE, UNFINISHED, Json, console, emit, quiet
from .bench import bench

if TYPE_CHECKING:
    from ..analysis.order_court import Court

SCENES = ("rocking_block", "slack_string", "coulomb_oscillator")
Scenes = Annotated[list[str] | None, typer.Argument(metavar="[SCENE]...", show_default=False)]


@bench.command("orders")
def orders(
    scenes: Scenes = None,
    *,
    steps: Annotated[int, typer.Option(help="Of the coarsest time stepping.")] = 100,
    levels: Annotated[int, typer.Option(help="Each with steps half as long.")] = 4,
    json_wanted: Json = False,
) -> None:
    """Print the observed orders: at least 4 by events with a fixed step, 2 in smooth time stepping, 1 across events.

    Example: gaussdyn bench orders rocking_block
    """
    from ..analysis.order_court import order_court
    from ..scenes.catalogue import build

    found = {}
    with quiet(json_wanted):
        for name in scenes or SCENES:
            scene = build(name)
            found[name] = order_court(scene.system, scene.state, scene.t_end, steps=steps, levels=levels)
    if json_wanted:
        emit({"schema": "gaussdyn/bench-orders/1", "results": [document(name, one) for name, one in found.items()]})
    else:
        show(found)
    raise typer.Exit(DONE if all(one.reached for one in found.values()) else UNFINISHED)


def document(name: str, court: Court) -> dict[str, Any]:
    """Return a court as plain data."""
    sittings = [{**asdict(one), "order": one.order, "bar": one.bar, "reached": one.reached} for one in court.sittings]
    return {"scene": name, "events": court.events, "reached": court.reached, "sittings": sittings}


def show(found: dict[str, Court]) -> None:
    """Print the table."""
    from rich.table import Table

    table = Table(box=None)
    for heading in ("scene", "events", "stepper", "longest step s", "errors of places", "order of places"):
        table.add_column(heading, justify="left")
    table.add_column("of velocities")
    table.add_column("claimed")
    for name, court in found.items():
        for one in court.sittings:
            errors = f"{one.place[0]:.1e} to {one.place[-1]:.1e}" if one.place else "none"
            longest = f"{max(one.steps):.2g}" if one.steps else ""
            orders = (str(one.order_place), str(one.order_velocity))
            table.add_row(name, str(court.events), one.name, longest, errors, *orders, f"{one.bar:g}")
    console().print(table)
