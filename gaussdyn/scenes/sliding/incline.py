"""A block on an incline: it holds, slides, stops, or turns back, as friction and slope decide."""

from __future__ import annotations

import math

from ...mechanics.planar.bodies import Marker, box
from ...mechanics.planar.contacts import HalfPlane, PlanarContact
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Parameter, Scene
from ...mechanics.state import State
from ..measures.measures import Columns, G, check, coordinate, largest, last

WIDTH, HEIGHT = 0.4, 0.1  # wide enough not to tip anywhere in the stated range, m
T_END, DT = 1.0, 2e-3

PARAMETERS = {
    "slope": Parameter(default=0.3, unit="rad", min=0.0, max=1.2, meaning="angle of the incline"),
    "mu": Parameter(default=0.4, unit="1", min=0.0, max=1.5, meaning="friction; it holds if tan(slope) <= mu"),
    "v0": Parameter(default=0.0, unit="m/s", min=-3.0, max=3.0, meaning="initial speed downhill (< 0: uphill)"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-3, max=1e3, meaning="of the block"),
}


def build(slope: float, mu: float, v0: float, mass: float) -> Scene:
    """Return the scene; the block stands on two corners, so that its reactions are redundant."""
    system = _system(slope, mu, mass)
    down = (math.cos(slope), -math.sin(slope))
    start = (HEIGHT / 2 * math.sin(slope), HEIGHT / 2 * math.cos(slope), -slope)
    travelled, speed = slide(T_END, v0, slope, mu)
    position_error, speed_error = _error(v0, slope, mu)

    def along(state: State) -> float:
        """Return the way down the slope, m."""
        return float((state.q[0] - start[0]) * down[0] + (state.q[1] - start[1]) * down[1])

    columns: Columns = {
        "block.x": ("m", coordinate(0)),
        "block.y": ("m", coordinate(1)),
        "block.angle": ("rad", coordinate(2)),
        "block.travelled": ("m", along),
        "block.speed": ("m/s", lambda state: float(state.v[0] * down[0] + state.v[1] * down[1])),
    }
    exact = (
        check("distance at the end", travelled, "m", last("block.travelled"), moreau_jean=position_error, located=True),
        check("speed at the end", speed, "m/s", last("block.speed"), moreau_jean=speed_error, located=True),
        check("largest lift", 0.0, "m", largest("block.left/incline.gap"), moreau_jean=1e-10, located=True),
    )
    return Scene(
        name="incline",
        title="Block on an incline",
        source="Coulomb's law; a = g (sin slope - mu cos slope) downhill, g (sin slope + mu cos slope) uphill",
        system=system,
        state=system.state({"block": start}, {"block": (v0 * down[0], v0 * down[1], 0.0)}),
        t_end=T_END,
        dt=DT,
        params={"slope": slope, "mu": mu, "v0": v0, "mass": mass},
        exact=exact,
        tests=("stick and slip", "no creep at rest", "redundant contacts"),
        columns=columns,
    )


def _system(slope: float, mu: float, mass: float) -> PlanarSystem:
    incline = HalfPlane(name="incline", normal=(math.sin(slope), math.cos(slope)))
    corners = {"left": -WIDTH / 2, "right": WIDTH / 2}
    markers = [Marker("block", (x, -HEIGHT / 2), name) for name, x in corners.items()]
    return PlanarSystem(
        bodies=[box("block", mass=mass, width=WIDTH, height=HEIGHT)],
        contacts=[PlanarContact(point=marker, plane=incline, mu=mu) for marker in markers],
        gravity=(0.0, -G),
    )


def slide(t: float, v0: float, slope: float, mu: float) -> tuple[float, float]:
    """Return distance (m) and speed (m/s) downhill after t (s), in closed form."""
    pull, drag = G * math.sin(slope), mu * G * math.cos(slope)
    if v0 == 0.0:
        a = max(pull - drag, 0.0)
        return a * t * t / 2, a * t
    a = pull - math.copysign(drag, v0)
    stop = -v0 / a if a * v0 < 0.0 else math.inf
    if t <= stop:
        return v0 * t + a * t * t / 2, v0 + a * t
    onward, speed = slide(t - stop, 0.0, slope, mu)
    return v0 * stop / 2 + onward, speed


def _error(v0: float, slope: float, mu: float) -> tuple[float, float]:
    """Bound the errors of time stepping, m and m/s.

    The midpoint rule is exact under constant forces; only the step in which the block stops is not: there friction
    acts for a whole step with one sign, and the impulse is wrong by at most 2 mu m g cos(slope) dt.
    """
    rounding = 1e-12 if v0 == 0.0 and math.tan(slope) <= mu else 1e-10
    wrong = 2.0 * mu * G * math.cos(slope) * DT if v0 != 0.0 else 0.0
    turns = v0 < 0.0 and math.tan(slope) > mu
    return rounding + wrong * (T_END if turns else 2.0 * DT), rounding + (wrong if turns else 0.0)
