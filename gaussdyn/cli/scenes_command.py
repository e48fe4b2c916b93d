"""``gaussdyn scenes``: what can be run, with parameters and exact answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .app import Json, Panel, app, console, emit, quiet

if TYPE_CHECKING:
    from ..mechanics.scene import Scene

GENERAL = "moreau_jean"
Name = Annotated[str | None, typer.Argument(metavar="SCENE", help="One scene, in detail.", show_default=False)]


@app.command(rich_help_panel=Panel.HELP)
def scenes(name: Name = None, json_wanted: Json = False) -> None:
    """List the scenes, or show one with its parameters and exact answers.

    Example: gaussdyn scenes zeno_ball
    """
    with quiet(json_wanted):
        from ..scenes import catalogue

        chosen = [catalogue.build(key) for key in ([name] if name else catalogue.names())]
        entries = [entry(scene, catalogue.parameters(scene.name)) for scene in chosen]
    if json_wanted:
        emit(entries)
    elif name:
        _show(entries[0], catalogue.description(name))
    else:
        _list(entries)


def entry(scene: Scene, params: dict[str, Any]) -> dict[str, Any]:
    """Return a scene as the file formats describe it."""
    exact = [{"name": e.name, "value": e.value, "unit": e.unit, "tol": dict(e.tol)} for e in scene.exact]
    from ..scenes.compare import steppers

    return {
        "name": scene.name,
        "title": scene.title,
        "tests": list(scene.tests),
        "dim": dimension(scene),
        "params": {
            key: {"default": p.default, "unit": p.unit, "min": p.min, "max": p.max, "meaning": p.meaning}
            for key, p in params.items()
        },
        "t_end": scene.t_end,
        "dt": scene.dt,
        "steppers": list(steppers(scene)),
        "exact": exact,
        "source": scene.source,
        "expected_stop": scene.expected_stop,
    }


def dimension(scene: Scene) -> int:
    """Return 3 if a shape or a row of the scene needs space, else 2."""
    shapes = scene.system.drawables(scene.state.q)
    places = [value for shape in shapes for key in ("at", "ends", "points") for value in _points(shape.get(key))]
    return 3 if any(len(place) > 2 for place in places) else 2


def _points(value: Any) -> list[Any]:
    if value is None or not len(value):
        return []
    return list(value) if hasattr(value[0], "__len__") else [value]


def _list(entries: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(title=f"{len(entries)} scenes", title_justify="left")
    for heading in ("name", "what happens", "parameters", "exact", "steppers"):
        table.add_column(heading)
    for e in entries:
        others = ", ".join(name for name in e["steppers"] if name != GENERAL)
        table.add_row(f"[bold]{e['name']}[/bold]", e["title"], ", ".join(e["params"]), str(len(e["exact"])), others)
    console().print(table)
    console().print(f"Steppers besides {GENERAL}, which all scenes are meant for; others may run, and are not judged.")
    console().print("Run one:  gaussdyn run NAME --report run.html      Values, ranges, answers:  gaussdyn scenes NAME")


def _show(e: dict[str, Any], description: str) -> None:
    from rich.table import Table

    screen = console()
    screen.print(f"[bold]{e['name']}[/bold]: {e['title']}, {e['t_end']:g} s at dt = {e['dt']:g} s", soft_wrap=True)
    screen.print(f"tests: {', '.join(e['tests'])}\nsource: {e['source']}", soft_wrap=True)
    screen.print(f"meant for --stepper {', '.join(e['steppers'])}", soft_wrap=True)
    screen.print(f"\n{description}\n", soft_wrap=True, markup=False, highlight=False)
    table = Table(title="parameters (--set NAME=NUMBER)", title_justify="left")
    for heading in ("name", "default", "unit", "least", "most", "meaning"):
        table.add_column(heading)
    for key, p in e["params"].items():
        table.add_row(key, f"{p['default']:g}", p["unit"], f"{p['min']:g}", f"{p['max']:g}", p["meaning"])
    screen.print(table)
    table = Table(title="exact answers at these defaults", title_justify="left")
    for heading in ("name", "value", "unit", "tolerance"):
        table.add_column(heading)
    for x in e["exact"]:
        tol = ", ".join(f"{name} {value:.3g}" for name, value in x["tol"].items())
        table.add_row(x["name"], f"{x['value']:.8g}", x["unit"], tol)
    screen.print(table)
