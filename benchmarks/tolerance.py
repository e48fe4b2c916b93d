"""What equal errors cost by time stepping with a fixed dt and with a tolerance, on the scenes of ``bench orders``.

Errors are the largest of the places and the mean over time of the velocities, over the largest place and speed,
against the motion by events; the worse of the two counts. The cost is the number of steps that were solved, and
processor time: the least of several rounds, in each of which all runs come after one another. For every tolerance the
cheapest fixed dt of the same error is interpolated between fixed runs, each twice as fine as the one before.

Run: ``python benchmarks/tolerance.py [SCENE]...``
"""

from __future__ import annotations

import argparse
import time
from operator import attrgetter

import numpy as np

from gaussdyn import EventDriven, MoreauJean, Tolerance, Trajectory, build, simulate
from gaussdyn.integrate.time_stepping.pace import PROBED
from gaussdyn.mechanics.scene import Scene

SCENES = ("rocking_block", "slack_string", "coulomb_oscillator")
LEVELS, COARSEST, TOLERANCES = 9, 50, (1e-3, 1e-4, 1e-5, 1e-6)
AT = 2000  # steps at whose ends errors are looked at
ROUNDS = 5


class Cost:
    """What a run costs.

    Attributes
    ----------
    steps : int
        Those that were solved, of trials too.
    seconds : float
        Of processor time, the least so far.
    error : float
    """

    def __init__(self, scene: Scene, stepper: MoreauJean) -> None:
        self.scene, self.stepper, self.seconds = scene, stepper, np.inf
        run = self.again()
        self.error = error_of(scene, run)
        said, self.steps = run.statistics, len(run.t) - 1
        if stepper.step is not None:  # three for each pair, and two more where the order is observed
            pairs = (self.steps + 1) // 2
            self.steps = 3 * (pairs + said["rejected_steps"]) + 2 * (1 + pairs // PROBED)

    def again(self) -> Trajectory:
        """Run once more."""
        begun = time.process_time()
        run = simulate(self.scene, stepper=self.stepper, examine="off")
        self.seconds = min(self.seconds, time.process_time() - begun)
        return run


def error_of(scene: Scene, run: Trajectory) -> float:
    """Return the error of a run."""
    seen = np.unique(np.linspace(0, len(run.t) - 1, AT).astype(int))
    known, state = [], scene.state
    for t in run.t[seen]:
        while state.t < t:
            state = EventDriven().advance(scene.system, state, float(t)).state
        known.append(np.concatenate([state.q, state.v]))
    q, v = np.split(np.array(known), [scene.system.nq], axis=1)
    place = np.abs(run.q[seen] - q).max() / np.abs(q).max()
    speed = np.abs(run.v[seen] - v).max(axis=1)
    mean = np.sum(speed[1:] * np.diff(run.t[seen])) / (run.t[-1] - run.t[0]) / np.abs(v).max()  # each over its step
    return max(float(place), float(mean))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenes", nargs="*", default=SCENES, metavar="SCENE")
    given = parser.parse_args()
    print("| scene | tolerance | error | steps | of fixed ones | ms | of fixed ones |\n|---|---|---|---|---|---|---|")
    for name in given.scenes:
        scene = build(name)
        span = scene.t_end - scene.state.t
        fixed = [Cost(scene, MoreauJean(dt=span / (COARSEST * 2**k))) for k in range(LEVELS)]
        chosen = [Cost(scene, MoreauJean(dt=scene.dt, step=Tolerance(rtol))) for rtol in TOLERANCES]
        for _ in range(ROUNDS):
            for one in (*fixed, *chosen):
                one.again()
        errors = np.log(np.minimum.accumulate([one.error for one in fixed])[::-1])
        for rtol, one in zip(TOLERANCES, chosen, strict=True):
            beyond = "at most " if np.log(one.error) < errors[0] else ""  # no fixed run is as good
            steps, seconds = (
                np.exp(np.interp(np.log(one.error), errors, np.log([cost(of) for of in fixed])[::-1]))
                for cost in (attrgetter("steps"), attrgetter("seconds"))
            )
            print(
                f"| {name} | {rtol:.0e} | {one.error:.1e} | {one.steps} | {beyond}{one.steps / steps:.2f} | "
                f"{1e3 * one.seconds:.0f} | {beyond}{one.seconds / seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
