"""Jointed systems in the plane and in space that several tests share."""

from __future__ import annotations

import math

from gaussdyn import PlanarSystem, SpatialSystem
from gaussdyn.mechanics import planar, spatial

SIDES = {"crank": 0.3, "coupler": 0.7, "rocker": 0.5}  # m, of a four-bar on a base of 0.6 m


def arm(*parts: object, forces: tuple[object, ...] = ()) -> PlanarSystem:
    """A planar arm on a carriage: slider, then two hinges; rods of 1 m."""
    carriage = planar.box("carriage", mass=2.0, width=0.4, height=0.2)
    rods = [planar.box(name, mass=1.0, width=1.0, height=0.05) for name in ("upper", "lower")]
    joints = [
        planar.Slider(name="rail", a=planar.Marker("carriage"), b=planar.fixed(0.0, 1.0)),
        planar.Hinge(name="shoulder", a=planar.Marker("upper", (-0.5, 0.0)), b=planar.Marker("carriage")),
        planar.Hinge(name="elbow", a=planar.Marker("lower", (-0.5, 0.0)), b=planar.Marker("upper", (0.5, 0.0))),
    ]
    return PlanarSystem(bodies=[carriage, *rods], joints=[*joints, *parts], forces=forces)


def four_bar(*parts: object) -> PlanarSystem:
    """Crank, coupler and rocker on a base of 0.6 m; the angle of the rocker is that against the ground."""
    bodies = [planar.box(name, mass=1.0, width=size, height=0.02) for name, size in SIDES.items()]
    half = {name: 0.5 * size for name, size in SIDES.items()}
    joints = [
        planar.Hinge(name="A", a=planar.Marker("crank", (-half["crank"], 0.0)), b=planar.fixed(0.0, 0.0)),
        planar.Hinge(
            name="B",
            a=planar.Marker("coupler", (-half["coupler"], 0.0)),
            b=planar.Marker("crank", (half["crank"], 0.0)),
        ),
        planar.Hinge(
            name="C",
            a=planar.Marker("coupler", (half["coupler"], 0.0)),
            b=planar.Marker("rocker", (half["rocker"], 0.0)),
        ),
        planar.Hinge(name="D", a=planar.Marker("rocker", (-half["rocker"], 0.0)), b=planar.fixed(0.6, 0.0)),
    ]
    return PlanarSystem(bodies=bodies, joints=[*joints, *parts])


def chain(*parts: object, forces: tuple[object, ...] = (), gravity: float = -9.81) -> SpatialSystem:
    """A chain in space with every kind of joint: hinge, ball, universal, slider, weld; bricks of 0.4 m along x."""
    names = ("one", "two", "three", "four", "five")
    bodies = [spatial.brick(name, mass=1.0, half=(0.2, 0.03, 0.04)) for name in names]
    bodies = [spatial.SpatialBody(name=body.name, mass=body.mass, inertia=body.inertia) for body in bodies]

    def ends(a: str, b: str, axis: tuple[float, float, float]) -> dict[str, spatial.SpatialMarker]:
        """Markers at the near end of one and the far end of the other."""
        far = spatial.mark(b, (0.2, 0.0, 0.0), axis=axis) if b != "ground" else spatial.mark(b, (0, 0, 1), axis=axis)
        return {"a": spatial.mark(a, (-0.2, 0.0, 0.0), axis=axis), "b": far}

    joints = [
        spatial.Hinge(name="hip", **ends("one", "ground", (0.0, 1.0, 0.5))),
        spatial.BallJoint(name="knee", **ends("two", "one", (0.0, 0.0, 1.0))),
        spatial.Universal(name="cardan", **ends("three", "two", (1.0, 0.0, 0.0))),
        spatial.Slider(name="tube", **ends("four", "three", (1.0, 0.0, 0.0))),
        spatial.Weld(name="seam", **ends("five", "four", (1.0, 0.0, 0.0))),
    ]
    return SpatialSystem(bodies=bodies, joints=[*joints, *parts], forces=forces, gravity=(0.0, 0.0, gravity))


CHAIN = {"hip": 0.7, "knee": (0.3, -0.8, 1.1), "cardan": (0.4, -0.6), "tube": 0.15}
CHAIN_RATES = {"hip": 1.3, "knee": (0.2, 0.5, -0.7), "cardan": (-0.4, 0.9), "tube": 0.6}
ARM = {"rail": -0.3, "shoulder": 7.0, "elbow": -math.pi / 3}
