"""A box put on a moving belt, level or sloping: it slips until it goes with the belt, or slides back.

Relative to the belt, w' = -g sin(slope) - mu g cos(slope) sgn(w) along it, upwards; once w = 0 the box stays on the
belt if tan(slope) <= mu. On a level belt it slips for V / (mu g) and is left V^2 / (2 mu g) behind.
"""

from __future__ import annotations

import math

from ...mechanics.planar.bodies import Marker, box
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, G, check, largest
from ..references.straight_motion import Line, end_checks

PARAMETERS = {
    "belt": Parameter(default=2.0, unit="m/s", min=-3.0, max=3.0, meaning="speed of the belt, upwards if > 0"),
    "slope": Parameter(default=0.2, unit="rad", min=0.0, max=0.8, meaning="angle of the belt"),
    "mu": Parameter(default=0.5, unit="1", min=0.05, max=1.0, meaning="friction; it is carried if tan(slope) <= mu"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-3, max=1e3, meaning="of the box"),
}
WIDTH, HEIGHT, DT, STEPS = 0.4, 0.1, 2e-3, 500  # m, s


def build(belt: float, slope: float, mu: float, mass: float) -> Scene:
    """Return the scene: the box starts at rest in space."""
    along, normal = (math.cos(slope), math.sin(slope)), (-math.sin(slope), math.cos(slope))
    plane = HalfPlane(name="belt", normal=normal, belt=belt)
    feet = {"low": -WIDTH / 2, "high": WIDTH / 2}
    system = PlanarSystem(
        bodies=[box("box", mass=mass, width=WIDTH, height=HEIGHT)],
        contacts=[
            PlanarContact(point=Marker("box", (x, -HEIGHT / 2), name), plane=plane, mu=mu) for name, x in feet.items()
        ],
        gravity=(0.0, -G),
    )
    start = (HEIGHT / 2 * normal[0], HEIGHT / 2 * normal[1], slope)

    def travelled(state: State) -> float:
        """Return the way up the slope, m."""
        return float((state.q[0] - start[0]) * along[0] + (state.q[1] - start[1]) * along[1])

    def speed(state: State) -> float:
        """Return the speed up the slope, m/s."""
        return float(state.v[0] * along[0] + state.v[1] * along[1])

    columns: Columns = {
        "box.travelled": ("m", travelled),
        "box.speed": ("m/s", speed),
        "box.slipped": ("m", lambda state: travelled(state) - belt * state.t),
        "box.slip": ("m/s", lambda state: speed(state) - belt),
    }
    pull, hold = G * math.sin(slope), mu * G * math.cos(slope)
    line = Line(slides=lambda s: [-pull - s * hold], rests=lambda: [-max(pull - hold, 0.0)])
    margin = abs(math.tan(slope) - mu)
    lift = check("largest lift", 0.0, "m", largest("box.low/belt.gap"), moreau_jean=1e-10)
    return Scene(
        name="conveyor",
        title="Box on a conveyor belt",
        source="Coulomb's law with the slip relative to the belt",
        system=system,
        state=system.state({"box": start}),
        t_end=STEPS * DT,
        dt=DT,
        params={"belt": belt, "slope": slope, "mu": mu, "mass": mass},
        exact=(lift, *end_checks(line, -belt, margin, (STEPS, DT), ("box.slipped", "box.slip"))),
        tests=("a moving obstacle", "slip to stick", "redundant contacts"),
        columns=columns,
    )
