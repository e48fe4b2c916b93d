"""Random bodies that fall on one another, in the plane and in space; everything follows from a seed."""

from __future__ import annotations

import numpy as np

from gaussdyn.mechanics.contact_law import ContactLaw
from gaussdyn.mechanics.planar import PlanarSystem
from gaussdyn.mechanics.planar_bodies import box, disc
from gaussdyn.mechanics.planar_contacts import HalfPlane
from gaussdyn.mechanics.spatial import SpatialSystem
from gaussdyn.mechanics.spatial_bodies import ball, brick, pill
from gaussdyn.mechanics.spatial_shapes import HalfSpace


def falling(dim, seed, *, mu, eps_n, eps_t=0.0, floor=True, count=None):
    """Two to five bodies (or `count`) with masses 1 to 1000 above a floor, or in free space towards one another."""
    rng = np.random.default_rng(seed)
    drawn = int(rng.integers(2, 6))
    count = drawn if count is None else count
    law = ContactLaw(mu=mu, eps_n=eps_n, eps_t=eps_t)
    make, places, speeds = (_planar, _on_line, _plane_speed) if dim == 2 else (_spatial, _in_space, _space_speed)
    bodies = [make(f"b{k}", rng, 10.0 ** rng.uniform(0.0, 3.0)) for k in range(count)]
    wall = HalfPlane(name="floor") if dim == 2 else HalfSpace(name="floor")
    gravity = {} if floor else {"gravity": (0.0,) * dim}
    system = (PlanarSystem if dim == 2 else SpatialSystem)(
        bodies=bodies, obstacles=[wall] if floor else [], contact=law, **gravity
    )
    place = {body.name: places(k, rng) for k, body in enumerate(bodies)}
    return system, system.state(place, {body.name: speeds(k, rng) for k, body in enumerate(bodies)})


def _planar(name, rng, mass):
    if rng.random() < 0.33:
        return disc(name, mass=mass, radius=rng.uniform(0.1, 0.2))
    return box(name, mass=mass, width=rng.uniform(0.2, 0.5), height=rng.uniform(0.2, 0.4))


def _spatial(name, rng, mass):
    kind = rng.integers(0, 4)
    if kind == 0:
        return ball(name, mass=mass, radius=rng.uniform(0.08, 0.2))
    if kind == 1:
        return pill(name, mass=mass, radius=rng.uniform(0.05, 0.12), half_length=rng.uniform(0.05, 0.2))
    return brick(name, mass=mass, half=tuple(rng.uniform(0.06, 0.2, 3)))


def _on_line(k, rng):
    return rng.uniform(-0.1, 0.1), 0.4 + 0.7 * k, rng.uniform(-3.0, 3.0)


def _in_space(k, rng):
    turn = rng.normal(size=4)
    return (*rng.uniform(-0.1, 0.1, 2), 0.4 + 0.7 * k, *(turn / np.linalg.norm(turn)))


def _plane_speed(k, rng):
    return rng.normal() * 0.3, -1.5 - 1.2 * k, rng.normal() * rng.choice([0.0, 1.0, 5.0])


def _space_speed(k, rng):
    return (*rng.normal(size=2) * 0.3, -1.5 - 1.2 * k, *rng.normal(size=3) * rng.choice([0.0, 1.0, 5.0]))
