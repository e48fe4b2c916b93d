"""What equal errors cost by time stepping with a fixed dt and with a tolerance, on the scenes of ``bench orders``.

Errors are the largest of the places and the mean over time of the velocities, over the largest place and speed,
against the motion by events; the worse of the two counts. The cost is the number of steps that were solved, and
processor time. For every tolerance the cheapest fixed dt of the same error is interpolated between fixed runs, each
twice as fine as the one before.

Run: ``python benchmarks/tolerance.py [SCENE]...``
"""

from __future__ import annotations

import sys
import time

import numpy as np

from gaussdyn import EventDriven, MoreauJean, Tolerance, build, simulate
from gaussdyn.mechanics.scene import Scene

SCENES = ("rocking_block", "slack_string", "coulomb_oscillator")
LEVELS, COARSEST, TOLERANCES = 9, 50, (1e-3, 1e-4, 1e-5, 1e-6)
AT = 2000  # steps at whose ends errors are looked at


class Counted(MoreauJean):
    """Counts the steps that are solved with a tolerance, those of trials too."""

    taken = 0

    def advance(self, *args: object, **options: object) -> object:  # type: ignore[override]
        """Take a step."""
        Counted.taken += self.step is None  # one of those that a tolerance is made of
        return super().advance(*args, **options)  # type: ignore[arg-type]


def cost_and_error(scene: Scene, stepper: Counted) -> tuple[int, float, float]:
    """Return the steps that were solved, seconds of processor time, and the error of a run."""
    Counted.taken, begun = 0, time.process_time()
    run = simulate(scene, stepper=stepper, examine="off")
    seconds = time.process_time() - begun
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
    steps = len(run.t) - 1 if stepper.step is None else Counted.taken
    return steps, seconds, max(float(place), float(mean))


def main() -> None:
    """Print the table."""
    for name in sys.argv[1:] or SCENES:
        scene = build(name)
        span = scene.t_end - scene.state.t
        cost_and_error(scene, Counted(dt=span / COARSEST))  # kernels are loaded
        fixed = [cost_and_error(scene, Counted(dt=span / (COARSEST * 2**k))) for k in range(LEVELS)]
        errors = np.minimum.accumulate([error for _, _, error in fixed])[::-1]
        print(f"{name}: fixed steps {fixed[0][0]} to {fixed[-1][0]}, errors {fixed[0][2]:.1e} to {fixed[-1][2]:.1e}")
        for rtol in TOLERANCES:
            steps, seconds, error = cost_and_error(scene, Counted(dt=scene.dt, step=Tolerance(rtol)))
            at = [np.interp(np.log(error), np.log(errors), np.log([one[i] for one in fixed])[::-1]) for i in (0, 1)]
            beyond = " at least" if error < errors[0] else ""
            print(
                f"  tolerance {rtol:.0e}: error {error:.1e}, {steps} steps solved, {seconds:.2f} s; fixed dt of this"
                f" error{beyond} {np.exp(at[0]):.0f} steps ({steps / np.exp(at[0]):.2f}), {np.exp(at[1]):.2f} s"
                f" ({seconds / np.exp(at[1]):.2f})"
            )


if __name__ == "__main__":
    main()
