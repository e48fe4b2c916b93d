"""Bricard's mechanism: five rods and the ground in a closed chain of six hinges; it moves although it should not.

Six hinges leave six angles for six closure equations, so that a count of freedoms gives none; the equations depend on
each other and one freedom remains. At the start the rods are edges of a cube. With theta and phi the turns at every
other hinge, (1 + cos(theta)) (1 + cos(phi)) = 1 all along, which sigma runs through without a stop:
    sin(theta / 2)^2 = (1 - 4^(-sin(sigma)^2)), sin(phi / 2)^2 = (1 - 4^(-cos(sigma)^2)).
Source: IFToMM library of computational benchmark problems, A04. The reference is the motion of sigma, integrated by an
independent method of order 8.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of, pointing, quaternion_of
from ...mechanics.scene import Exact, Parameter, Scene
from ...mechanics.spatial.bodies import brick
from ...mechanics.spatial.joints import Hinge
from ...mechanics.spatial.kinematics import SpatialMarker
from ...mechanics.spatial.system import SpatialSystem
from ...mechanics.state import State
from ..measures.measures import G, check, energy_change, joint_error, last
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "rate": Parameter(default=0.0, unit="rad/s", min=-2.0, max=2.0, meaning="of the first hinge at the start"),
    "length": Parameter(default=1.0, unit="m", min=0.5, max=2.0, meaning="of every rod"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-2, max=1e2, meaning="of every rod"),
}
RODS, SLIM = 5, 0.025  # half thickness of the rods over their length
STEPS, DURATION = 40, 1.0  # in units of sqrt(length / gravity)
TWISTS = (-1.0, 1.0, -1.0, 1.0, -1.0)  # of the next axis about each rod, over a quarter of a turn
NODES = 64
SIGMA0 = math.pi / 4  # theta = phi = pi / 2: edges of a cube


def build(rate: float, length: float, mass: float) -> Scene:
    """Return the scene: it starts as edges of a cube."""
    system, state = chain(rate, length, mass)
    unit = math.sqrt(length / G)
    return Scene(
        name="bricard",
        title="Bricard's mechanism: six hinges that should not move",
        source="IFToMM benchmark A04; reference: DOP853 in the one coordinate of the closed chain",
        system=system,
        state=state,
        t_end=DURATION * unit,
        dt=DURATION * unit / STEPS,
        params={"rate": rate, "length": length, "mass": mass},
        exact=_exact(rate * unit, unit, mass * G * length),
        tests=("joints that depend on one another on their constraints only", "a closed chain in space", "energy"),
        columns={"theta": ("rad", _theta), **body_columns(system, "rod3")},
        dim=3,
    )


def _exact(rate: float, unit: float, weight: float) -> tuple[Exact, ...]:
    """Return the exact numbers; the rate is over 1 / unit (s), the energies over weight (J)."""
    theta, speed, _, fastest = motion(rate, DURATION)
    near = (DURATION / STEPS) ** 2 * (1.0 + fastest**2)  # second order
    most = weight * (1.0 + fastest**2)
    return (
        check("angle at the end", theta, "rad", last("theta"), moreau_jean=near, on_branch=1e-9),
        check("rate at the end", speed / unit, "rad/s", _rate, moreau_jean=2.0 * near / unit, on_branch=1e-9 / unit),
        check("largest change of energy", 0.0, "J", energy_change, moreau_jean=near * most, on_branch=1e-10 * weight),
        check("largest error of a joint", 0.0, "m", joint_error, moreau_jean=1e-10, on_branch=1e-10),
    )


def chain(rate: float, length: float, mass: float) -> tuple[SpatialSystem, State]:
    """Return the rods ``rod1`` .. ``rod5``, hinges ``hinge0`` .. ``hinge5``, and the state at the start."""
    names = [f"rod{k + 1}" for k in range(RODS)]
    half, slim = 0.5 * length, SLIM * length
    ahead = [_marker("ground", 0.0, (0.0, -1.0, 0.0))]
    ahead += [_marker(name, half, (0.0, -twist, 0.0)) for name, twist in zip(names, TWISTS, strict=True)]
    behind = [_marker(name, -half, (0.0, 0.0, 1.0)) for name in names]
    behind.append(SpatialMarker("ground", (0.0, 0.0, length), pointing((1.0, 0.0, 0.0))))
    system = SpatialSystem(
        bodies=[brick(name, mass=mass, half=(half, slim, slim)) for name in names],
        joints=[
            Hinge(name=f"hinge{k}", a=b, b=a) for k, (a, b) in enumerate(zip(ahead, behind, strict=True))
        ],
        gravity=(0.0, -G, 0.0),
        pairs=dict.fromkeys(combinations(names, 2)),
    )  # fmt: skip
    centres, frames, moves, turns = start()
    sigma_rate = rate / _theta_slope(SIGMA0)
    place, velocity = {}, {}
    for k, name in enumerate(names):
        place[name] = np.concatenate([length * centres[k], quaternion_of(frames[k])])
        velocity[name] = sigma_rate * np.concatenate([length * moves[k], turns[k]])
    return system, system.state(place, velocity)


def _marker(body: str, x: float, axis: tuple[float, float, float]) -> SpatialMarker:
    return SpatialMarker(body, (x, 0.0, 0.0), pointing(axis))


def turns_of(sigma: Array) -> tuple[Array, Array]:
    """Return theta and phi, rad, shape as sigma."""

    def half(sine: Array) -> Array:
        """Return asin(sqrt(1 - 4^(-sine^2))), with the sign of the sine."""
        return np.asarray(np.arcsin(np.sign(sine) * np.sqrt(-np.expm1(-math.log(4.0) * sine**2))))

    return 2.0 * half(np.sin(sigma)), 2.0 * half(np.cos(sigma))


def pose(sigma: Array) -> tuple[Array, Array]:
    """Return mass centres, shape (n, 5, 3), over the length, and frames, shape (n, 5, 3, 3), of the five rods.

    The x axis of a frame lies along the rod, the z axis is that of the hinge at its beginning.
    """
    theta, phi = turns_of(sigma)
    n = len(sigma)
    frame = np.broadcast_to(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]), (n, 3, 3))
    tip, centres, frames = np.zeros((n, 3)), np.empty((n, RODS, 3)), np.empty((n, RODS, 3, 3))
    for k in range(RODS):
        frame = frame @ _about_z(phi if k % 2 else theta)
        frames[:, k], centres[:, k] = frame, tip + 0.5 * frame[:, :, 0]
        tip = tip + frame[:, :, 0]
        frame = frame @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -TWISTS[k]], [0.0, TWISTS[k], 0.0]])
    return centres, frames


def _about_z(angle: Array) -> Array:
    c, s, o = np.cos(angle), np.sin(angle), np.zeros_like(angle)
    return np.asarray(np.stack([c, -s, o, s, c, o, o, o, o + 1.0], axis=1).reshape(-1, 3, 3), dtype=np.float64)


def _derivative(values: Array) -> Array:
    """Return the derivative with respect to sigma of functions sampled over a period, along the first axis."""
    k = np.fft.fftfreq(NODES, 1.0 / NODES).reshape(-1, *[1] * (values.ndim - 1))
    return np.asarray(np.fft.ifft(1j * k * np.fft.fft(values, axis=0), axis=0).real)


def _grid() -> Array:
    return np.asarray(np.arange(NODES) * (2.0 * math.pi / NODES), dtype=np.float64)


def start() -> tuple[Array, Array, Array, Array]:
    """Return centres and frames of the rods at the start, and how they move and turn (in body axes) with sigma."""
    centres, frames = pose(_grid())
    k = NODES // 8
    spins = np.swapaxes(frames[k], 1, 2) @ _derivative(frames)[k]
    turns = np.stack([spins[:, 2, 1], spins[:, 0, 2], spins[:, 1, 0]], axis=1)
    return centres[k], frames[k], _derivative(centres)[k], turns


@lru_cache(maxsize=1)
def inertia() -> tuple[Any, Any]:
    """Return Fourier coefficients of M and V, T = M sigma'^2 / 2, over mass, length and gravity, at `NODES` orders.

    A brick has the inertia of six points of a sixth of its mass in the middles of its faces.
    """
    centres, frames = pose(_grid())
    points = np.concatenate(
        [centres + s * h * frames[..., k] for k, h in enumerate((0.5, SLIM, SLIM)) for s in (-1, 1)], 1
    )
    M = (_derivative(points) ** 2).sum(axis=(1, 2)) / 6.0
    V = centres[:, :, 1].sum(axis=1)
    return np.fft.fft(M) / NODES, np.fft.fft(V) / NODES


@lru_cache(maxsize=64)
def motion(rate: float, t_end: float) -> tuple[float, float, float, float]:
    """Return theta and theta' at the end, the range of the energy of gravity, and the largest rate of a turn.

    All over units of length, mass and gravity; M sigma'' + M' sigma'^2 / 2 + V' = 0.
    """
    from scipy.integrate import solve_ivp

    M, V = inertia()
    k = np.fft.fftfreq(NODES, 1.0 / NODES)

    def slope(t: float, y: Array) -> list[float]:
        """Return d(sigma, sigma')/dt."""
        wave = np.exp(1j * k * y[0])
        m, dm, dV = (float((c * wave).sum().real) for c in (M, 1j * k * M, 1j * k * V))
        return [y[1], -(0.5 * dm * y[1] ** 2 + dV) / m]

    first = [SIGMA0, rate / _theta_slope(SIGMA0)]
    found = solve_ivp(slope, (0.0, t_end), first, "DOP853", rtol=1e-12, atol=1e-12, max_step=0.1)
    sigma, speed = found.y
    theta, _ = turns_of(sigma[-1:])
    energy = float(np.ptp((V[None] * np.exp(1j * np.outer(sigma, k))).sum(axis=1).real))
    slopes = np.array([max(abs(_theta_slope(s)), abs(_theta_slope(s + math.pi / 2))) for s in sigma])
    fastest = float((slopes * np.abs(speed)).max())
    return float(theta[0]), float(speed[-1]) * _theta_slope(float(sigma[-1])), energy, fastest


def _theta_slope(sigma: float) -> float:
    """Return d theta / d sigma, from sin(theta / 2)^2 = 1 - 4^(-sin(sigma)^2)."""
    s2 = math.sin(sigma) ** 2
    rest = 4.0**-s2
    ratio = math.log(4.0) if s2 < 1e-12 else -math.expm1(-math.log(4.0) * s2) / s2
    return 2.0 * math.log(4.0) * math.cos(sigma) * math.sqrt(rest / ratio)


def _theta(state: State) -> float:
    """Return the turn at the first hinge, rad: that of the first rod from -z towards x."""
    along = matrix_of(state.q[3:7])[:, 0]
    return math.atan2(float(along[0]), -float(along[2]))


def _rate(run: Any) -> float:
    """Return the rate of the first hinge at the end, rad/s: the spin of the first rod about its axis, -y."""
    w = matrix_of(run.q[-1, 3:7]) @ run.v[-1, 3:6]
    return -float(w[1])
