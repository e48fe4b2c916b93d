"""A system of one's own: a bead thrown against a moving wall, in about twenty lines."""

import numpy as np

from gaussdyn import MoreauJean, Position, State, UserSystem, check_system, simulate

MASS, SPEED = 0.2, 0.5  # kg, m/s


def gap(t, q):
    """Distance from the floor, which rises with constant speed, m."""
    return q[1] - SPEED * t


floor = Position(gap, name="floor", eps_n=0.6)
bead = UserSystem(2, MASS * np.eye(2), [0.0, -9.81 * MASS], [floor], potential=lambda t, q: 9.81 * MASS * q[1])
print(check_system(bead))

run = simulate(bead, State(q=[0.0, 1.0], v=[1.0, 0.0]), 1.2, stepper=MoreauJean(dt=2e-3))
print(run)
print("impacts:", [round(event.t, 3) for event in run.events if event.kind == "touchdown"][:5])
