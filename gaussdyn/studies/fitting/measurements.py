"""What was measured: columns over time, from a run, a table of numbers, or arrays; and how a run is read beside it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._files import is_hdf5
from ..._show import brief
from ...arrays import Array, scalar, vector
from ...errors import InputError, SceneError
from ..parameter_sets import Number

if TYPE_CHECKING:
    from ...integrate.run.trajectory import Trajectory

TIME = "t"
STILL = 1e-8  # of the largest spread of a column: what spreads less stands still, but for rounding
BOOKKEEPING = (
    "E",
    "energy_error",
    "work_reactions",
    "work_forces",
    "work_projection",
    "kinetic",
    "potential",
    "energy",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurements:
    """Columns over time of one experiment.

    Parameters
    ----------
    t : array_like, shape (n,)
        Times, s, rising.
    columns : mapping of str to array_like, shape (n,)
        By the names that a run of the scene gives them, in SI units.
    sigma : mapping of str to float, optional
        Standard deviation of the noise of a column. Columns without one are weighed by their spread, and the noise is
        estimated from what the fit leaves.
    fixed : mapping of str to number
        Parameters that were known in this experiment and may differ between experiments.

    Raises
    ------
    InputError
        No columns, wrong shapes, NaN, times that do not rise.
    """

    t: Array
    columns: Mapping[str, Array]
    sigma: Mapping[str, float] = field(default_factory=dict)
    fixed: Mapping[str, Number] = field(default_factory=dict)

    __repr__ = brief

    def __post_init__(self) -> None:
        t = vector("t", self.t)
        if len(t) < 2 or not (np.diff(t) > 0.0).all():
            raise InputError(
                "t",
                f"{len(t)} times",
                "at least two, each after the one before, s",
                "Write t=numpy.linspace(0, 1, 11).",
            )
        if not self.columns:
            raise InputError(
                "columns", "none", "at least one column to compare, e.g. ball.y", 'Write data={"t": t, "ball.y": y}.'
            )
        columns = {str(name): vector(str(name), x, len(t)) for name, x in self.columns.items()}
        for name, size in self.sigma.items():
            _known("sigma", name, columns)
            scalar(f"sigma of {name}", size, low=0.0, open_low=True)
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "columns", columns)

    def taking(self, names: Sequence[str] | None) -> Measurements:
        """Return these columns only; None: all that are there."""
        if names is None:
            return self
        for name in names:
            _known("column", name, self.columns)
        sigma = {name: size for name, size in self.sigma.items() if name in names}
        columns = {name: self.columns[name] for name in names}
        return Measurements(t=self.t, columns=columns, sigma=sigma, fixed=self.fixed)

    def scales(self) -> dict[str, float]:
        """Return what differences of each column are divided by: its sigma, or its spread (1 where it stands still)."""
        spreads = {name: float(np.std(x)) for name, x in self.columns.items()}
        least = STILL * max(spreads.values())
        return {name: self.sigma.get(name) or (size if size > least else 1.0) for name, size in spreads.items()}

    @property
    def known_noise(self) -> bool:
        """Whether sigma is given for every column."""
        return set(self.sigma) == set(self.columns)


@dataclass(frozen=True, slots=True)
class Sampled:
    """A measure: columns of a run at given times, linearly between its states; after its end what it was last."""

    times: tuple[float, ...]
    names: tuple[str, ...]

    @property
    def save(self) -> int:
        """Every how many steps a state must be saved for it."""
        return 1

    def __call__(self, run: Trajectory) -> dict[str, Any]:
        """Return the columns by number, for names may hold any letters."""
        return {str(k): np.interp(self.times, run.t, run[name]) for k, name in enumerate(self.names)}


def measurements_of(given: Any, columns: Sequence[str] | None = None) -> Measurements:
    """Return measurements from a run, a file (HDF5 of a run, or CSV with a head of names), or a mapping with t.

    Raises
    ------
    InputError
        Something else; a table without t or without the columns asked for.
    SceneError
        A file that is none of these, or damaged.
    """
    from ...integrate.run.trajectory import Trajectory

    if isinstance(given, Measurements):
        return given.taking(columns)
    if isinstance(given, str | Path):
        given = Trajectory.load(given) if is_hdf5(given) else _table(Path(given))
    if isinstance(given, Trajectory):
        return _of_run(given, columns)
    if isinstance(given, Mapping):
        if TIME not in given:
            raise InputError(
                "data",
                f"columns {', '.join(map(str, given))}",
                "a column t, the time in s, among them",
                'Write data={"t": t, **data}.',
            )
        rest = {str(name): x for name, x in given.items() if name != TIME}
        return Measurements(t=given[TIME], columns=rest).taking(columns)
    allowed = "Measurements, a run, the path of a run (.h5) or table (.csv), or a mapping of columns with t"
    raise InputError("data", type(given).__name__, allowed, 'Write data={"t": t, "ball.y": y}.')


def _of_run(run: Trajectory, columns: Sequence[str] | None) -> Measurements:
    """Return columns of a run: those asked for, or its coordinates and what the scene defines."""
    wanted = columns
    if wanted is None:
        moving = [name for name in run.names if name not in BOOKKEEPING and "." in name and not _of_a_row(name, run)]
        spreads = {name: float(np.std(run[name])) for name in moving}
        least = STILL * max(spreads.values(), default=0.0)
        wanted = [name for name, spread in spreads.items() if spread > least]
    return Measurements(t=run.t, columns={name: run[name] for name in wanted})


def _of_a_row(name: str, run: Trajectory) -> bool:
    """Whether a column belongs to a constraint: gaps and reactions follow from the motion, with steps at events."""
    return any(name.startswith(f"{row}.") for row in run.rows)


def _table(path: Path) -> dict[str, Array]:
    """Read a CSV file whose first line names the columns."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SceneError(
            str(path),
            "",
            f"cannot be read as a table ({error}); give a run (.h5) or a .csv: gaussdyn run SCENE --out run.h5",
        ) from None
    names = [name.strip().strip('"') for name in lines[0].split(",")] if lines else []
    if TIME not in names:
        raise SceneError(str(path), "first line", 'must name the columns, one of them t: "t,ball.y"')
    try:
        rows = [[float(x) for x in line.split(",")] for line in lines[1:] if line.strip()]
        values = np.array(rows, dtype=np.float64).reshape(-1, len(names))
    except ValueError as error:
        raise SceneError(
            str(path), "rows", f'must hold {len(names)} numbers each ({error}): "{",".join(["0"] * len(names))}"'
        ) from None
    return {name: values[:, k] for k, name in enumerate(names)}


def _known(what: str, name: str, columns: Mapping[str, Any]) -> None:
    if name not in columns:
        near = difflib.get_close_matches(name, columns, n=3, cutoff=0.4)
        mend = f"Nearest: {', '.join(near)}. Write {near[0]!r}." if near else f"Write {next(iter(columns))!r}."
        raise InputError(what, repr(name), f"a measured column: {', '.join(list(columns)[:12])}", mend)
