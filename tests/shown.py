"""Values that the public verbs return, small and large, and all values within them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

import gaussdyn as gd
from gaussdyn.analysis.singular import branches, singular_loads
from gaussdyn.integrate.run.trajectory import Stop
from gaussdyn.mechanics.collision.shapes import HalfSpace
from gaussdyn.mechanics.spatial.bodies import brick
from gaussdyn.programs.files.formats import ProblemFile
from gaussdyn.programs.laws.laws import Coulomb

MANY = 24


def shown() -> dict[str, Any]:
    """Return values by a name for each."""
    return {**mechanics(), **problems(), **singular(), **runs()}


def stack() -> tuple[gd.SpatialSystem, gd.State]:
    """Return a row of many boxes on the floor, nine contacts for the first of them."""
    boxes = [brick(f"box{k}", mass=1.0, half=(0.1, 0.1, 0.1)) for k in range(MANY)]
    system = gd.SpatialSystem(bodies=boxes, obstacles=[HalfSpace(name="floor")], contact=gd.ContactLaw(mu=0.5))
    state = system.state({f"box{k}": (0.3 * k, 0.0, 0.1) for k in range(MANY)})
    memory = {f"box{k}:c{j}/floor": np.ones(3) for k in range(MANY) for j in range(4)}
    return system, gd.State(q=state.q, v=state.v, memory=memory)


def own() -> gd.UserSystem:
    """Return a block on the ground."""
    ground = [gd.Position(lambda t, q: q[0], name=name) for name in ("ground", "floor", "table")]
    return gd.UserSystem(1, [[2.0]], [15.0 - 2.0 * 9.81], ground)


def mechanics() -> dict[str, Any]:
    """Return scenes, systems, states and what is known of one state."""
    system, state = stack()
    large = gd.snapshot(system, state)
    small = gd.snapshot(own(), gd.State(q=[0.0], v=[0.0]))
    rod = gd.build("painleve_rod", mu=1.8)
    none = gd.outcome(gd.snapshot(rod.system, rod.state))
    omega = gd.admissible_set(small)
    return {
        "large system": system, "large state": state, "large dynamics": large, "large problem": gd.assemble(large),
        "small system": own(), "small dynamics": small, "omega": omega, "program": gd.gauss_program(small, omega),
        "resolve": gd.resolve(small), "outcome": gd.outcome(small), "no outcome": none, "scene": rod,
        "planar system": rod.system, "scene in space": gd.build("launched_cube"), "lagrangian": gd.build("kapitza"),
        "report": gd.check_system(own()), "law": gd.ContactLaw(mu=0.2), "steppers": (gd.MoreauJean(), gd.EventDriven()),
        "step": gd.MoreauJean().advance(own(), gd.State(q=[0.0], v=[0.0]), 1.0),
    }  # fmt: skip


def problems() -> dict[str, Any]:
    """Return problems and their solutions."""
    eye, ones = np.eye(MANY), np.ones(MANY)
    lcp = gd.LinearComplementarity(M=eye, q=-ones)
    program = gd.QuadraticProgram(H=eye, g=ones, C=eye, d=ones)
    contact = gd.ComplementarityProblem(W=eye, q=-ones, laws=[Coulomb(0.3)] * (MANY // 3))
    found = {"lcp": lcp, "program of many": program, "contacts": contact}
    file = ProblemFile(file="x.json", name="x", kind="lcp", problem=lcp, contacts=MANY)
    return {**found, **{f"solution of {key}": gd.solve(one) for key, one in found.items()}, "file": file}


def singular() -> dict[str, Any]:
    """Return what is said of a configuration at which branches meet."""
    system = gd.build("singular_pendulum", b=2.5).system
    found = branches(system, np.zeros(2))
    return {"branches": found, "branch point": found.point, "reduction": found.point.reduction,
            "loads": singular_loads(system, found.point, 0, speed=1.0)}  # fmt: skip


def runs() -> dict[str, Any]:
    """Return runs, what they hold, and what is said of them."""
    scene = gd.build("launched_cube")
    run = gd.simulate(scene, t_end=0.1)
    rod = gd.build("painleve_rod", mu=1.8)
    none = gd.simulate(rod.system, rod.state, 0.0)
    stopped = replace(run, status="STOPPED", stop=Stop(t=0.1, reason="the gap of a row is not finite: " + "so " * 900))
    end = len(run) - 1
    return {
        "run": run, "stopped": stopped, "steps": run.steps, "no steps": none.steps,
        "one of several": gd.simulate(gd.build("wedge"), t_end=0.01), "run of no steps": none,
        "between": run.between("cube", "floor"),
        "contacts": run.contacts(end), "table": run.table, "column": run.columns["energy"], "final": run.final,
        "audit": gd.audit(run, scene.system), "tree": gd.explore(rod, t_end=0.01, depth=1),
        "located": gd.simulate(gd.build("two_ball_drop"), t_end=0.5, stepper=gd.EventDriven()),
        "crosscheck": gd.crosscheck(gd.build("pendulum"), ["penalty"], stiffness=[1e4, 1e5], t_end=0.01),
    }  # fmt: skip


def within(name: str, value: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Return a value of the package, and those within it."""
    if isinstance(value, tuple | list):
        for k, item in enumerate(value[:3]):
            yield from within(f"{name}[{k}]", item, depth)
    elif isinstance(value, Mapping):
        for key, item in list(value.items())[:3]:
            yield from within(f"{name}[{key!r}]", item, depth)
    elif type(value).__module__.startswith("gaussdyn") and not isinstance(value, type) and depth < 6:
        yield name, value
        if is_dataclass(value):
            for one in fields(value):
                yield from within(f"{name}.{one.name}", getattr(value, one.name), depth + 1)
