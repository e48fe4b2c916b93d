"""What every run of a study is, and one run of it: build, simulate, measure; whatever goes wrong is its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._show import brief, cut
from ..errors import InputError, raised_in
from ..mechanics.scene import Scene
from ..mends import meant
from .column_measures import Columns
from .parameter_sets import Number

if TYPE_CHECKING:
    from ..integrate.run.trajectory import Trajectory
    from ..integrate.stepper import Stepper

COMPLETED, STOPPED, FAILED, DIED, PENDING = "COMPLETED", "STOPPED", "FAILED", "DIED", "PENDING"
STATUSES = (PENDING, COMPLETED, STOPPED, FAILED, DIED)
# What a run met, the gravest first.
OUTCOMES = ("NONE", "UNDECIDED", "CONTINUUM", "MULTIPLE", "UNIQUE", "NOT_EXAMINED")
REASON = 600  # letters of a reason that are kept
MOMENT = 1e-9  # s: a run that says which columns there are

Built = Any
Measure = Callable[["Trajectory"], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """What every run of a study is: what builds it, and how it is simulated.

    Parameters
    ----------
    build : str or callable
        Name of a scene, or a function of the parameters, by keyword. It returns a Scene, a tuple (system, state,
        t_end), a mapping of arguments of `gaussdyn.simulate`, or a Trajectory that it has computed itself. Worker
        processes must be able to import it: write it at the top level of a module.
    fixed : mapping of str to number
        Parameters that are the same in all runs, in SI units.
    t_end : float, optional
        Default that of the scene, s.
    stepper : Stepper, optional
        Default ``MoreauJean(dt=scene.dt)``.
    save : int, optional
        Every how many steps a state is saved. Default: as the measure asks (only the first and the last state for
        values at the end), else 1.
    examine : str, optional
        off, start, cheap or full, as in `gaussdyn.simulate`.

    Raises
    ------
    InputError
        An unknown scene, something that is no function, a wrong number.
    """

    build: str | Callable[..., Built]
    fixed: Mapping[str, Number] = field(default_factory=dict)
    t_end: float | None = None
    stepper: Stepper | None = None
    save: int | None = None
    examine: str | None = None

    __repr__ = brief

    def __post_init__(self) -> None:
        if isinstance(self.build, str):
            from ..scenes import catalogue

            catalogue.parameters(self.build)
        elif not callable(cast(object, self.build)):
            allowed = "the name of a scene, or a function of the parameters that returns what is to be run"
            raise InputError("build", repr(self.build), allowed, 'Write study("incline", ...).')
        if not isinstance(cast(object, self.fixed), Mapping):
            raise InputError(
                "fixed", repr(self.fixed), "a mapping of parameters to numbers", 'Write fixed={"mu": 0.3}.'
            )
        if self.save is not None and (isinstance(self.save, bool) or not isinstance(self.save, int) or self.save < 1):
            raise InputError("save", repr(self.save), "an integer >= 1, or None", "Write save=1.")

    def check(self, names: tuple[str, ...]) -> None:
        """Refuse, before any run, parameters that a scene does not have, or that are fixed.

        Raises
        ------
        InputError
            Names what is wrong, and the parameters of the scene.
        """
        both = sorted(set(names) & set(self.fixed))
        if both:
            raise InputError(
                "parameters",
                ", ".join(both),
                "parameters that are not fixed by the template",
                f"Leave {both[0]!r} out of fixed=...",
            )
        if isinstance(self.build, str):
            from ..scenes import catalogue

            known = catalogue.parameters(self.build)
            for name in (*names, *self.fixed):
                if name not in known:
                    raise InputError(
                        f"parameter of {self.build}",
                        repr(name),
                        ", ".join(known),
                        meant(name, known) or f"Write {{{next(iter(known))!r}: [0.1, 0.2]}}.",
                    )

    def settings(self) -> dict[str, Any]:
        """Return all of it as JSON knows it; functions by their names."""
        name = self.build if isinstance(self.build, str) else name_of(self.build)
        stepper = None if self.stepper is None else self.stepper.settings()
        simulated = {"t_end": self.t_end, "stepper": stepper, "save": self.save, "examine": self.examine}
        return {"build": name, "fixed": dict(self.fixed), **simulated}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one run came to.

    Attributes
    ----------
    status : str
        COMPLETED, STOPPED, FAILED (an exception) or DIED (its process).
    reason : str
        Why it was not completed.
    outcome : str
        The gravest outcome of a step: NONE, UNDECIDED, CONTINUUM, MULTIPLE, UNIQUE, NOT_EXAMINED; "" without a run.
    t : float
        Time that was reached, s; NaN without a run.
    values : mapping of str to Array
        What was measured, float64; NaN where the measure said None.
    """

    status: str
    reason: str = ""
    outcome: str = ""
    t: float = float("nan")
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """One run as a function of its parameters: what is sent to workers."""

    template: Template
    measure: Measure

    def __call__(self, parameters: Mapping[str, Number]) -> Result:
        """Build, simulate and measure; an exception is a result, too."""
        run, stage = None, "build"
        try:
            made = self._build(parameters)
            stage = "simulate"
            run = self._simulate(made)
            stage = "measure"
            values = measured(self.measure(run))
        except Exception as error:
            said = f"{stage}: {type(error).__name__}: {error}{raised_in(error)}"
            if run is not None and run.stop is not None:
                said += f"; the run had stopped at t = {run.stop.t:g} s: {run.stop.reason}"
            t, met = (float("nan"), "") if run is None else (run.t_reached, gravest(run))
            return Result(status=FAILED, reason=cut(said, REASON), outcome=met, t=t)
        reason = "" if run.stop is None else cut(f"t = {run.stop.t:g} s: {run.stop.reason}", REASON)
        status = COMPLETED if run.stop is None else STOPPED
        return Result(status=status, reason=reason, outcome=gravest(run), t=run.t_reached, values=values)

    def check(self, some: Sequence[Mapping[str, Number]]) -> None:
        """Refuse columns that runs of a scene do not have, before any is carried out.

        The first moment of some of the runs says which there are; what else goes wrong there is the result of that run.
        """
        lost: InputError | None = None
        for parameters in some if isinstance(self.template.build, str) and isinstance(self.measure, Columns) else ():
            try:
                run = replace(self, template=replace(self.template, t_end=MOMENT))._simulate(self._build(parameters))
            except Exception:
                return
            try:
                self.measure(run)
            except InputError as error:
                lost = error
            else:
                return
        if lost is not None:
            raise lost

    def _build(self, parameters: Mapping[str, Number]) -> Built:
        build, given = self.template.build, {**self.template.fixed, **parameters}
        if isinstance(build, str):
            from ..scenes import catalogue

            return catalogue.build(build, **given)
        return build(**given)

    def _simulate(self, made: Built) -> Trajectory:
        """Run what was built; what it says itself goes before what the template says."""
        from ..integrate.run.trajectory import Trajectory
        from ..integrate.simulate import simulate

        if isinstance(made, Trajectory):
            return made
        template, said = self.template, _arguments(made)
        save = template.save if template.save is not None else getattr(self.measure, "save", 1)
        usual = {"t_end": template.t_end, "stepper": template.stepper, "save": save, "examine": template.examine}
        return simulate(**{**usual, **said})


def _arguments(made: Built) -> dict[str, Any]:
    """Return what a build function returned as arguments of `simulate`.

    Raises
    ------
    InputError
        Something else.
    """
    if isinstance(made, Scene):
        return {"scene_or_system": made}
    if isinstance(made, Mapping):
        return dict(made)
    if isinstance(made, tuple) and len(made) == 3:
        return dict(zip(("scene_or_system", "state", "t_end"), made, strict=True))
    allowed = "a Scene, (system, state, t_end), a mapping of arguments of simulate, or a Trajectory"
    mend = "It may lack its last line: return build(...)." if made is None else "Write return build(...)."
    raise InputError("what build returns", type(made).__name__, allowed, mend)


def measured(given: object) -> dict[str, Any]:
    """Return what a measure returned as float64 arrays; None, which is "not known", as NaN.

    Raises
    ------
    InputError
        No mapping of names to numbers or arrays of them, or NaN.
    """
    if not isinstance(given, Mapping):
        mend = 'Write e.g. return {"speed": run["block.speed"][-1]}.'
        raise InputError("what measure returns", type(given).__name__, "a mapping of names to numbers or arrays", mend)
    return {_name(key): _values(key, value) for key, value in given.items()}


def _name(key: object) -> str:
    if not isinstance(key, str) or not key or "/" in key:
        raise InputError(
            "what measure returns",
            f"the key {key!r}",
            "names: text without /",
            f"Write {{{str(key).replace('/', '_')!r}: ...}}.",
        )
    return key


def _values(key: str, value: object) -> Any:
    """Return a measured value as floats; None is NaN."""
    if value is None:
        return np.array(np.nan)
    x: Any
    try:
        x = np.asarray(value)
        x = x.astype(np.float64) if x.dtype.kind in "biuf" else None
    except (TypeError, ValueError):
        x = None
    if x is None:
        raise InputError(
            f"measure {key!r}",
            repr(value),
            "a number, or an array of numbers of one shape",
            f"Write {key!r}: float(...).",
        )
    if np.isnan(x).any():
        raise InputError(f"measure {key!r}", "nan", "numbers", f"Write {{{key!r}: None}} where there is none.")
    return x


def gravest(run: Trajectory) -> str:
    """Return the gravest outcome that a step of a run had."""
    met = run.outcomes
    return next((name for name in OUTCOMES if name in met), OUTCOMES[-1])


def template_of(build: object) -> Template:
    """Return the template; a scene's name or a function is one with all its defaults.

    Raises
    ------
    InputError
        Neither of them.
    """
    return build if isinstance(build, Template) else Template(build=build)  # type: ignore[arg-type]


def measure_of(given: object) -> Measure:
    """Return the measure; names of columns are what `Columns` reads.

    Raises
    ------
    InputError
        Neither a function nor names.
    """
    if isinstance(given, str):
        return Columns((given,))
    if isinstance(given, list | tuple):
        return Columns(tuple(given))
    if callable(given):
        return given
    raise InputError(
        "measure",
        repr(given),
        "a function of the trajectory, or names of columns",
        'Write measure=["max:block.speed"].',
    )


def name_of(function: Any) -> str:
    """Return what a function is called: module and name."""
    inner = getattr(function, "func", function)  # of functools.partial
    name = getattr(inner, "__qualname__", None) or type(inner).__qualname__
    return f"{getattr(inner, '__module__', None) or '?'}.{name}"
