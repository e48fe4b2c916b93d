"""``gaussdyn bench orders``: observed orders of convergence, event-driven against time stepping on the same scenes."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..app import DONE, UNFINISHED, Json, console, emit, quiet
from .group import bench

if TYPE_CHECKING:
    from ...analysis.crosscheck.convergence_orders import ConvergenceOrders

SCENES = ("rocking_block", "slack_string", "coulomb_oscillator", "chaplygin_sleigh", "free_body")
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
    from ...analysis.crosscheck.convergence_orders import convergence_orders
    from ...scenes.catalogue import build

    found = {}
    with quiet(json_wanted):
        for scene in [build(name) for name in scenes or SCENES]:
            found[scene.name] = convergence_orders(scene.system, scene.state, scene.t_end, steps=steps, levels=levels)
    if json_wanted:
        emit({"schema": "gaussdyn/bench-orders/1", "results": [document(name, one) for name, one in found.items()]})
    else:
        show(found)
    raise typer.Exit(DONE if all(one.reached for one in found.values()) else UNFINISHED)


def document(name: str, found: ConvergenceOrders) -> dict[str, Any]:
    """Return observed orders as plain data."""
    orders = [{**asdict(one), "order": one.order, "bar": one.claimed, "reached": one.reached} for one in found.orders]
    return {"scene": name, "events": found.events, "reached": found.reached, "sittings": orders}


def show(found: dict[str, ConvergenceOrders]) -> None:
    """Print the table."""
    from rich.table import Table

    table = Table(box=None)
    for heading in ("scene", "events", "stepper", "longest step s", "errors of places", "order of places"):
        table.add_column(heading, justify="left")
    table.add_column("of velocities")
    table.add_column("claimed")
    for name, one_scene in found.items():
        for one in one_scene.orders:
            errors = f"{one.place[0]:.1e} to {one.place[-1]:.1e}" if one.place else "none"
            longest = f"{max(one.steps):.2g}" if one.steps else ""
            orders = (str(one.order_place), str(one.order_velocity))
            table.add_row(name, str(one_scene.events), one.name, longest, errors, *orders, f"{one.claimed:g}")
    console().print(table)
