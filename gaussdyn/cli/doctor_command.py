"""``gaussdyn doctor`` (what is installed, where kernels are kept) and ``gaussdyn warmup`` (compile them now)."""

from __future__ import annotations

import platform
import time
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer

from .._version import __version__
from .app import Json, Panel, app, console, emit, quiet

REQUIRED = ("numpy", "scipy", "numba", "cvxpy", "osqp", "clarabel", "h5py", "sympy", "typer", "rich")
EXTRAS = {
    "report": ("plotly", "jinja2", "matplotlib"),
    "data": ("pandas", "xarray"),
    "sweep": ("distributed", "cloudpickle"),
    "mjcf": ("mujoco",),
    "mesh": ("trimesh",),
    "coacd": ("coacd",),
    "gym": ("gymnasium",),
    "league": ("mujoco", "drake", "pybullet", "dartpy", "pymunk"),
}


@app.command(rich_help_panel=Panel.HELP)
def doctor(json_wanted: Json = False) -> None:
    """Print versions, extras, and the state of the kernel cache.

    Example: gaussdyn doctor
    """
    with quiet(json_wanted):
        found = survey()
    if json_wanted:
        emit({"schema": "gaussdyn/doctor/1", **found})
        return
    from rich.table import Table

    table = Table(title=f"gaussdyn {__version__}, Python {found['python']}, {found['platform']}", title_justify="left")
    table.add_column("library")
    table.add_column("version")
    table.add_column("needed for")
    for name, number in found["libraries"].items():
        table.add_row(name, number or "[red]missing[/red]", "always")
    for extra, libraries in found["extras"].items():
        for name, number in libraries.items():
            table.add_row(name, number or "not installed", f"the extra '{extra}': pip install 'gaussdyn\\[{extra}]'")
    screen, cache = console(), found["cache"]
    screen.print(table)
    screen.print(f"kernels: {cache['modules']} modules, {cache['files']} compiled functions", style="bold")
    screen.print(f"cache:   {cache['directory']}", soft_wrap=True)
    if not cache["files"]:
        screen.print("Nothing is compiled yet: the first solve does it, or gaussdyn warmup.")


def survey() -> dict[str, Any]:
    """Return versions (None where missing) and the state of the kernel cache."""
    from .._cache import kernel_directory, machine_code
    from .._kernel_files import kernel_sources

    sources = kernel_sources()
    cache = {
        "directory": str(kernel_directory()),
        "modules": len(sources),
        "files": sum(len(list(machine_code(path).glob("*.nbc"))) for path in sources),
    }
    return {
        "version": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "libraries": {name: installed(name) for name in REQUIRED},
        "extras": {extra: {name: installed(name) for name in names} for extra, names in EXTRAS.items()},
        "cache": cache,
    }


def installed(name: str) -> str | None:
    """Return the version of an installed distribution, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


@app.command(rich_help_panel=Panel.HELP)
def warmup(
    processes: Annotated[
        int | None, typer.Option("--processes", min=1, help="How many compile at once (default: the cores, at most 4).")
    ] = None,
    json_wanted: Json = False,
) -> None:
    """Compile all kernels now, once, instead of at the first solve.

    Example: gaussdyn warmup
    """
    start = time.perf_counter()
    with quiet(json_wanted):
        from .. import _cache, _warmup

        found = _warmup.compile_all(processes)
    directory = str(_cache.kernel_directory())
    if json_wanted:
        emit({"schema": "gaussdyn/warmup/1", **found, "directory": directory})
        return
    took = time.perf_counter() - start
    console().print(
        f"{len(found['modules'])} modules ready in {took:.1f} s, {found['compiled']} functions newly compiled; "
        f"kept in {directory}",
        soft_wrap=True,
    )
