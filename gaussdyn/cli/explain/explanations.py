"""What the words of runs and answers mean, and what to do: statuses, outcomes, events."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A word that gaussdyn says.

    Attributes
    ----------
    about : str
        What the word is said of.
    means : str
    tries : tuple of str
        Commands, or lines of Python where they do not begin with ``gaussdyn``.
    page : str
        Of the documentation.
    """

    about: str
    means: str
    tries: tuple[str, ...]
    page: str


def explanations() -> dict[str, Explanation]:
    """Return all words that are explained; a word that is said of several things has its first meaning here."""
    return {**_events(), **_changes(), **_runs(), **_solves(), **_outcomes()}


def _outcomes() -> dict[str, Explanation]:
    from ...contact.outcome.verdicts import ADVICE, Verdict

    tries = {
        Verdict.UNIQUE: ("gaussdyn forces SCENE",),
        Verdict.MULTIPLE: ("gaussdyn explore SCENE", "gaussdyn run SCENE --on-multiple raise"),
        Verdict.CONTINUUM: ("gaussdyn explore SCENE", "gaussdyn crosscheck SCENE --with penalty"),
        Verdict.NONE: (
            "gaussdyn outcome SCENE --certificate proof.json", "gaussdyn verify proof.json",
            "gaussdyn crosscheck SCENE --with penalty",
        ),
        Verdict.UNDECIDED: ("gaussdyn run SCENE --examine full", "gaussdyn solve FILE --method enumerate"),
        Verdict.NOT_EXAMINED: ("gaussdyn run SCENE --examine cheap",),
    }  # fmt: skip
    return {
        str(one): Explanation(
            about="how many motions a state has", means=ADVICE[one], tries=tries[one], page="not_unique.md"
        )
        for one in Verdict
    }


def _solves() -> dict[str, Explanation]:
    from ...programs.solution.status import Status

    tries = {
        Status.SOLVED: ("solution.residuals", "gaussdyn solve FILE --save solved.hdf5"),
        Status.INFEASIBLE: ("gaussdyn solve FILE --certificate proof.json", "gaussdyn verify proof.json"),
        Status.NO_SOLUTION: ("gaussdyn solve FILE --certificate proof.json", "gaussdyn verify proof.json"),
        Status.MAX_ITERATIONS: ("gaussdyn solve FILE --method interior_point", "solution.explain()"),
        Status.UNDECIDED: ("gaussdyn solve FILE --method enumerate",),
        Status.TIME_LIMIT: ("solve(problem)  # without `seconds`",),
        Status.IMPACT_NEEDED: ('resolve(snapshot(system, state, level="velocity"), dt=1e-3)',),
        Status.PENETRATING: ("simulate(system, state, t_end, project=True)",),
    }
    return {
        str(one): Explanation(about="a contact problem", means=one.advice, tries=tries[one], page="solver.md")
        for one in Status
    }


def _runs() -> dict[str, Explanation]:
    return {
        "COMPLETED": Explanation(
            about="a run", means="it reached the time that was asked for; that says nothing of its accuracy.",
            tries=("gaussdyn run SCENE --out run.h5", "gaussdyn audit run.h5"), page="quickstart.md",
        ),
        "STOPPED": Explanation(
            about="a run",
            means="it ended before its time, and says why in `run.stop.reason`; what was computed before is all there.",
            tries=("run.stop.reason", "gaussdyn run SCENE --out run.h5 --resume", "gaussdyn run SCENE --dt 1e-4"),
            page="symptoms.md",
        ),
    }  # fmt: skip


def _events() -> dict[str, Explanation]:
    return {
        "unsettled": Explanation(
            about="a step, as an event",
            means="its passes did not settle; it stands with the contact laws at the middle of the step, solved and "
            "without overlap. A few of many are harmless.",
            tries=("run.event_counts", "gaussdyn run SCENE --dt 1e-4", "gaussdyn audit run.h5"), page="symptoms.md",
        ),
        "chosen": Explanation(
            about="a state, as an event", means="several motions begin there, and the run took one of them.",
            tries=("gaussdyn explore SCENE", "gaussdyn run SCENE --on-multiple raise"), page="not_unique.md",
        ),
        "crowded": Explanation(
            about="a step, as an event",
            means="a contact closed in it on a body that others hold; its laws hold at the middle of the step.",
            tries=("run.event_counts", "gaussdyn audit run.h5"), page="stepping.md",
        ),
        "cut": Explanation(
            about="a step, as an event",
            means="the contact problem of a pile cost too much over the whole step, which is taken in shorter ones.",
            tries=("run.event_counts", "gaussdyn audit run.h5"), page="stepping.md",
        ),
        "accumulation": Explanation(
            about="an instant, as an event", means="infinitely many impacts end here, as of a ball that comes to rest.",
            tries=("gaussdyn run bouncing_ball --stepper event_driven",), page="event_driven.md",
        ),
    }  # fmt: skip


def _changes() -> dict[str, Explanation]:
    """Return the kinds of events at one row, with what happens there."""
    by_events = "gaussdyn run SCENE --stepper event_driven"  # locates it
    closing = {
        "impact": "the velocity jumps: what touches, or strikes, takes an impulse by the law of impacts.",
        "touchdown": "a contact begins to push; where it strikes there is an `impact`, too, with runs by events.",
        "lift_off": "a contact ceases to push, or its shapes part.",
        "handed_over": "a feature ends where it touches, as an edge at its corner, and another one pushes on in its "
        "place: see `taken_over` at the same time. Nothing jumps.",
        "taken_over": "a feature pushes on where another one of the same shapes ends, as a corner after its edge: see "
        "`handed_over` at the same time. Nothing jumps.",
        "active": "a contact that had friction pushes on without: its coefficient has become zero.",
        "turn": "the normal reaction of a bilateral contact that slips changes its sign.",
        "undecided": "a gap came within 1e-12 m of zero and opened again: touch or not is not known.",
    }
    friction = {
        "stick": "a contact that slid comes to rest, and friction holds it.",
        "slip": "a contact that stuck begins to slide.",
        "reversal": "a slip changes its sign, without sticking.",
        "roll": "a contact that was held by rolling resistance begins to roll.",
        "stop_roll": "rolling comes to rest, and rolling resistance holds it.",
    }
    passed = {
        "none_passed_by_impact": "no acceleration obeys the laws there: velocities jump, though nothing collides.",
        "none_passed_by_compliance": "no acceleration obeys the laws there: contacts are springs for an instant.",
    }
    words = (
        (closing, "event_driven.md", "run.event_counts"), (friction, "event_driven.md", "run.event_counts"),
        (passed, "friction.md", "gaussdyn outcome SCENE --certificate proof.json"),
    )  # fmt: skip
    explained = {
        kind: Explanation(about="a constraint, as an event", means=means, tries=(first, by_events), page=page)
        for kinds, page, first in words for kind, means in kinds.items()
    }  # fmt: skip
    explained["user"] = Explanation(
        about="an instant, as an event",
        means="a function given to the stepper as `events` passes through zero; the id is its name.",
        tries=('EventDriven(events={"low": lambda t, state: state.q[1] - 0.3})', "run.event_counts"),
        page="event_driven.md",
    )  # fmt: skip
    explained["branch_point"] = Explanation(
        about="an instant, as an event",
        means="branches of the configuration space meet; the id is the number of the point and of the branch on which "
        "it was reached.",
        tries=("gaussdyn branches SCENE", "run.event_counts"), page="singular.md",
    )  # fmt: skip
    return explained
