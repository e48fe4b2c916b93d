"""``gaussdyn contacts``: the class of every contact of a scene."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from .app import Json, Panel, app, console, emit, numbers, quiet

if TYPE_CHECKING:
    from ..contact.classification.contact_class import ContactClass
    from ..mechanics.scene import Scene
    from ..mechanics.state import State


@app.command(rich_help_panel=Panel.STATES)
def contacts(
    name: Annotated[str, typer.Argument(metavar="SCENE", help="A scene.")],
    settings: Annotated[list[str] | None, typer.Option("--set", help="NAME=NUMBER.")] = None,
    at: Annotated[float | None, typer.Option(help="Time at which the scene is looked at, s.")] = None,
    json_wanted: Json = False,
) -> None:
    """Class every contact: dimension, associated or not (does friction change its normal force), detachable or not.

    Example: gaussdyn contacts painleve_rod
    """
    with quiet(json_wanted):
        from ..contact.classification.contact_class import contact_classes
        from ..contact.snapshot import snapshot

        scene, state = scene_at(name, numbers(settings), at)
        found = contact_classes(snapshot(scene.system.near(state.t, state.q, state.v, 0.0), state))
        if not found:  # shapes that are far apart now
            left = max(scene.t_end - state.t, 0.0)
            found = contact_classes(snapshot(scene.system.near(state.t, state.q, state.v, left), state))
    if json_wanted:
        emit({
            "schema": "gaussdyn/contacts/1", "scene": scene.name, "params": scene.params, "t": state.t,
            "results": [asdict(one) for one in found],
        })  # fmt: skip
    else:
        _show(scene, state, found)


def scene_at(name: str, params: dict[str, float], at: float | None) -> tuple[Scene, State]:
    """Return a scene and its state at the start, or at a later time of its run.

    Raises
    ------
    InputError
        No such scene or parameter, or a time before the start.
    """
    from ..scenes import catalogue

    scene = catalogue.build(name, **params)
    state = scene.state
    if at is not None and at != state.t:
        from ..integrate.simulate import simulate

        if not at > state.t:
            raise InputError("--at", at, f"a time after the start, {state.t:g} s", f"Write --at {state.t + 0.1:g}.")
        state = simulate(scene, t_end=at).final
    return scene, state


def _show(scene: Scene, state: State, found: tuple[ContactClass, ...]) -> None:
    from rich.table import Table

    screen = console()
    if not found:
        screen.print(f"{scene.name} has no contacts that may act until t = {scene.t_end:g} s.")
        return
    table = Table(title=f"{scene.name} at t = {state.t:g} s", title_justify="left")
    for heading in ("contact", "dimension", "associated", "dN/dT", "proof", "detachable", "gap, m", "friction"):
        table.add_column(heading)
    for one in found:
        table.add_row(one.id, str(one.dimension), *map(str, _words(one)))
    screen.print(table)


def _words(one: ContactClass) -> list[Any]:
    own = one.depends_on == (one.id,)
    by = " (its own friction)" if own else f" (friction of {len(one.depends_on)} contacts)"
    friction = f"{one.mu:g}" if one.mu_s == one.mu else f"{one.mu:g}, at rest {one.mu_s:g}"
    return [
        "yes" if one.associated else f"no{by}",
        f"{one.coupling:.6g}",
        one.proof,
        "yes" if one.detachable else "no",
        "closed" if one.closed else f"{one.gap:.4g}",
        friction,
    ]
