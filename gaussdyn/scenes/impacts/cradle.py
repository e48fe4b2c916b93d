"""Newton's cradle: equal balls in a row, hit by the first.

Newton's law at all contacts at once (Moreau) throws the first ball back and lets the others leave together; collisions
one after the other (balls a little apart) let only the last one go. Both keep momentum and, with e = 1, energy: the
impact law, not mechanics, decides. Set gap > 0 for the second.
"""

from __future__ import annotations

from ...mechanics.contact_law import ContactLaw
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import ball
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import check, last
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "balls": Parameter(default=3.0, unit="1", min=2.0, max=6.0, meaning="number of balls (rounded)"),
    "v0": Parameter(default=1.0, unit="m/s", min=0.1, max=10.0, meaning="speed of the first ball"),
    "e": Parameter(default=1.0, unit="1", min=0.0, max=1.0, meaning="restitution"),
    "gap": Parameter(default=0.0, unit="m", min=0.0, max=0.01, meaning="between the balls; 0: they touch"),
    "radius": Parameter(default=0.05, unit="m", min=0.01, max=0.5, meaning="of every ball"),
}
APPROACH, DT = 0.0203, 1e-3  # m before the first hit, at 1 m/s; s


def build(balls: float, v0: float, e: float, gap: float, radius: float) -> Scene:
    """Return the scene in free space, seen until some time after the last collision."""
    n, dt = round(balls), DT / v0
    names = [f"ball{k}" for k in range(n)]
    system = SpatialSystem(
        bodies=[ball(name, mass=1.0, radius=radius) for name in names],
        contact=ContactLaw(eps_n=e),
        gravity=(0.0, 0.0, 0.0),
    )
    after = _after(n, v0, e, gap)
    pitch = 2.0 * radius + gap
    places = {name: (k * pitch - (APPROACH if k == 0 else 0.0), 0.0, 0.0) for k, name in enumerate(names)}
    exact = tuple(
        check(f"speed of {name}", v, "m/s", last(f"{name}.vx"), moreau_jean=1e-11 * v0)
        for name, v in zip(names, after, strict=False)
    )
    return Scene(
        name="cradle",
        title="Newton's cradle: the impact law decides",
        source="Newton's law at all contacts at once (Moreau 1988), or one after the other",
        system=system,
        state=system.state(places, {names[0]: (v0, 0.0, 0.0)}),
        t_end=200 * dt,
        dt=dt,
        params={"balls": balls, "v0": v0, "e": e, "gap": gap, "radius": radius},
        exact=exact,
        tests=("several impacts at once", "momentum and energy at impacts"),
        columns=body_columns(system),
        dim=3,
    )


def _after(n: int, v0: float, e: float, gap: float) -> list[float]:
    """Return the velocities after the last collision, m/s; none where they are not known in closed form.

    At once: -e v0 at the first contact, 0 at the others. One by one: each ball hands its momentum on, if e = 1.
    """
    others = (1.0 + e) * v0 / n
    if gap == 0.0:
        return [others - e * v0] + [others] * (n - 1)
    return [0.0] * (n - 1) + [v0] if e == 1.0 and gap >= 4e-3 else []
