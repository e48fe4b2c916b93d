"""Andrews' squeezing mechanism: seven rods, a spring and a motor, one degree of freedom, very quick.

Source: Test set for IVP solvers (Bari), problem andrews; G. C. Andrews, M. K. Ormrod (1986). The mechanism here is
made of rods and hinges. The reference is the published form in seven angles with six closure equations, twice
differentiated and integrated by an independent method of order 8; for the default torque and spring it agrees with the
published end values to all their digits that a check can use.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Array
from ...mechanics.planar.bodies import Marker, PlanarBody, fixed
from ...mechanics.planar.forces import Load, Spring
from ...mechanics.planar.joints import Hinge
from ...mechanics.planar.system import PlanarSystem
from ...mechanics.scene import Exact, Parameter, Scene, WhenAsked
from ...mechanics.state import State
from ..measures.measures import Columns, check, last

PARAMETERS = {
    "torque": Parameter(default=0.033, unit="N m", min=0.03, max=0.036, meaning="of the motor on the crank"),
    "stiffness": Parameter(default=4530.0, unit="N/m", min=4000.0, max=5000.0, meaning="of the spring"),
    "duration": Parameter(default=0.03, unit="s", min=0.005, max=0.03, meaning="the crank turns 2.5 times in 0.03 s"),
}
DT = 5e-5  # s
ANGLES = ("beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon")
START = (
    -0.0617138900142764496358948458001, 0.0, 0.455279819163070380255912382449, 0.222668390165885884674473185609,
    0.487364979543842550225598953530, -0.222668390165885884674473185609, 1.23054744454982119249735015568,
)  # fmt: skip
MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)  # kg
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)  # kg m^2
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)  # fixed points, m; the crank turns about (0, 0)
D, DA, E, EA, RR, RA, SS, SA, SB = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.035, 0.01874, 0.01043  # m
SC, SD, TA, TB, U, UA, UB, ZF, ZT, FA, L0 = (
    0.018, 0.02, 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421, 0.07785,
)  # m  # fmt: skip


def build(torque: float, stiffness: float, duration: float) -> Scene:
    """Return the scene: from rest, in the published initial position."""
    system = mechanism(torque, stiffness)
    place = {f"k{k + 1}": pose for k, pose in enumerate(poses(np.array(START)))}
    columns: Columns = {name: ("rad", _angle(k)) for k, name in enumerate(ANGLES)}
    return Scene(
        name="andrews_squeezer",
        title="Andrews' squeezing mechanism",
        source="Test set for IVP solvers, problem andrews; reference: DOP853 on the equations in seven angles",
        system=system,
        state=system.state(place),
        t_end=duration,
        dt=DT,
        params={"torque": torque, "stiffness": stiffness, "duration": duration},
        exact=WhenAsked(lambda: _exact(*motion(torque, stiffness, duration), torque, stiffness)),
        tests=("closed loops of hinges", "a spring", "accuracy at high speed"),
        columns=columns,
    )


def mechanism(torque: float, stiffness: float) -> PlanarSystem:
    """Return the seven bodies ``k1`` .. ``k7``, their ten hinges, the spring and the motor."""
    arms = {
        "k1": ((-RA, 0.0), (RR - RA, 0.0)),
        "k2": ((-DA, 0.0), (D - DA, 0.0)),
        "k3": ((-SB, SA), (SD - SB, SA - SC), (-SB, SA - SS)),
        "k4": ((EA - E, 0.0), (EA, 0.0)),
        "k5": ((-TA, -TB), (ZT - TA, -TB)),
        "k6": ((FA - ZF, 0.0), (FA, 0.0)),
        "k7": ((-UB, UA), (-UB, UA - U)),
    }
    ends = {f"{name}{k}": Marker(name, at) for name, corners in arms.items() for k, at in enumerate(corners)}
    pairs = {
        "crank": ("k10", "o"), "pin": ("k20", "k11"), "base3": ("k30", "b"), "tip3": ("k32", "k21"),
        "tip4": ("k41", "k21"), "tip6": ("k61", "k21"), "base5": ("k50", "a"), "base7": ("k70", "a"),
        "knee45": ("k40", "k51"), "knee67": ("k60", "k71"),
    }  # fmt: skip
    ends |= {"o": fixed(0.0, 0.0), "a": fixed(*A), "b": fixed(*B)}
    hinges = [Hinge(name=name, a=ends[a], b=ends[b]) for name, (a, b) in pairs.items()]
    return PlanarSystem(
        bodies=[
            PlanarBody(name=name, mass=m, inertia=I, outline=arms[name])
            for name, m, I in zip(arms, MASSES, INERTIAS, strict=True)
        ],
        joints=hinges,
        forces=[
            Spring(a=ends["k31"], b=fixed(*C), stiffness=stiffness, length=L0),
            Load(point=Marker("k1"), torque=torque),
        ],
        gravity=(0.0, 0.0),
    )


def directions(q: Array) -> Array:
    """Return the angles of the seven bodies from the x axis, rad, for the published angles."""
    be, th, ga, ph, de, om, ep = q
    return np.array([be, be + th + math.pi, ga, ph + de - math.pi / 2, de, om + ep, ep])


def poses(q: Array) -> list[tuple[float, float, float]]:
    """Return (x, y, angle) of the mass centres of the seven bodies, m and rad."""
    turn = directions(q)
    cos, sin = np.cos(turn), np.sin(turn)
    pin, knee5, knee7 = (RR, 0.0), (ZT, 0.0), (0.0, -U)
    hung = (  # where the origin of each arm is, and from there its mass centre in the body's axes
        ((0.0, 0.0), 0, (0.0, 0.0), (RA, 0.0)), ((0.0, 0.0), 0, pin, (DA, 0.0)), (B, 2, (0.0, 0.0), (SB, -SA)),
        (A, 4, knee5, (E - EA, 0.0)), (A, 4, (0.0, 0.0), (TA, TB)), (A, 6, knee7, (ZF - FA, 0.0)),
        (A, 6, (0.0, 0.0), (UB, -UA)),
    )  # fmt: skip
    found = []
    for k, ((x, y), base, (px, py), (cx, cy)) in enumerate(hung):
        x += cos[base] * px - sin[base] * py + cos[k] * cx - sin[k] * cy
        y += sin[base] * px + cos[base] * py + sin[k] * cx + cos[k] * cy
        found.append((float(x), float(y), float(turn[k])))
    return found


@lru_cache(maxsize=16)
def motion(torque: float, stiffness: float, duration: float) -> tuple[Array, Array, tuple[Array, Array]]:
    """Return angles (rad) and rates (rad/s) at the end, and how much they bend.

    That is the largest |second derivatives| of all angles on the way, rad/s^2, and the third ones, rad/s^3.
    """
    from scipy.integrate import solve_ivp

    def slope(t: float, y: Array) -> Array:
        """Return d(q, q')/dt."""
        return np.concatenate([y[7:], acceleration(y[:7], y[7:], torque, stiffness)])

    start = np.concatenate([START, np.zeros(7)])
    t = np.linspace(0.0, duration, 3001)
    found = solve_ivp(slope, (0.0, duration), start, "DOP853", rtol=1e-10, atol=1e-10, t_eval=t)
    bend = np.gradient(found.y[7:], t, axis=1)
    jerk = np.abs(np.gradient(bend, t, axis=1)).max(axis=1)
    return found.y[:7, -1], found.y[7:, -1], (np.abs(bend).max(axis=1), jerk)


def acceleration(q: Array, v: Array, torque: float, stiffness: float) -> Array:
    """Return q'' from M q'' + G^T lam = f and G q'' = -(dG/dt) q', with G of the six closure equations."""
    G, bend = _closure(q, v)
    K, right = np.zeros((13, 13)), np.zeros(13)
    K[:7, :7], K[:7, 7:], K[7:, :7] = _mass(q), G.T, G
    right[:7], right[7:] = _force(q, v, torque, stiffness), bend
    return np.asarray(np.linalg.solve(K, right)[:7], dtype=np.float64)


def _mass(q: Array) -> Array:
    m1, m2, m3, m4, m5, m6, m7 = MASSES
    i1, i2, i3, i4, i5, i6, i7 = INERTIAS
    th, ph, om = q[1], q[3], q[5]
    e, z = E - EA, ZF - FA
    M = np.zeros((7, 7))
    M[0, 0] = m1 * RA**2 + m2 * (RR**2 - 2.0 * DA * RR * math.cos(th) + DA**2) + i1 + i2
    M[0, 1] = M[1, 0] = m2 * (DA**2 - DA * RR * math.cos(th)) + i2
    M[1, 1] = m2 * DA**2 + i2
    M[2, 2] = m3 * (SA**2 + SB**2) + i3
    M[3, 3] = m4 * e**2 + i4
    M[3, 4] = M[4, 3] = m4 * (e**2 + ZT * e * math.sin(ph)) + i4
    M[4, 4] = m4 * (ZT**2 + 2.0 * ZT * e * math.sin(ph) + e**2) + m5 * (TA**2 + TB**2) + i4 + i5
    M[5, 5] = m6 * z**2 + i6
    M[5, 6] = M[6, 5] = m6 * (z**2 - U * z * math.sin(om)) + i6
    M[6, 6] = m6 * (z**2 - 2.0 * U * z * math.sin(om) + U**2) + m7 * (UA**2 + UB**2) + i6 + i7
    return M


def _force(q: Array, v: Array, torque: float, stiffness: float) -> Array:
    m2, m4, m6 = MASSES[1], MASSES[3], MASSES[5]
    _, th, ga, ph, _, om, _ = q
    be1, th1, _, ph1, de1, om1, ep1 = v
    c, s, e, z = math.cos(ga), math.sin(ga), E - EA, ZF - FA
    x, y = SD * c + SC * s + B[0] - C[0], SD * s - SC * c + B[1] - C[1]
    pull = -stiffness * (1.0 - L0 / math.hypot(x, y))
    return np.array([
        torque - m2 * DA * RR * th1 * (th1 + 2.0 * be1) * math.sin(th),
        m2 * DA * RR * be1**2 * math.sin(th),
        pull * (x * (SC * c - SD * s) + y * (SD * c + SC * s)),
        m4 * ZT * e * de1**2 * math.cos(ph),
        -m4 * ZT * e * ph1 * (ph1 + 2.0 * de1) * math.cos(ph),
        -m6 * U * z * ep1**2 * math.cos(om),
        m6 * U * z * om1 * (om1 + 2.0 * ep1) * math.cos(om),
    ])  # fmt: skip


def _closure(q: Array, v: Array) -> tuple[Array, Array]:
    """Return G, shape (6, 7), and -(dG/dt) q', shape (6,).

    Each equation is a sum of terms r cos(angle), r sin(angle) of arms; arm i depends on sums S[i] of the angles.
    """
    S = np.array([
        [1, 0, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 1],
    ])  # fmt: skip
    angle, rate = S @ q, S @ v
    c, s = np.cos(angle), np.sin(angle)
    # x and y of each arm: crank, d, ss, e, zt, zf, u; the chains to be closed by their differences
    along = np.array([RR, -D, -SS, -E, -ZT, -ZF, -U])
    dx = along * np.array([-s[0], -s[1], c[2], c[3], -s[4], -s[5], c[6]])
    dy = along * np.array([c[0], c[1], s[2], s[3], c[4], c[5], s[6]])
    ddx = along * np.array([-c[0], -c[1], -s[2], -s[3], -c[4], -c[5], -s[6]])
    ddy = along * np.array([-s[0], -s[1], c[2], c[3], -s[4], -s[5], c[6]])
    chains = ([0, 1, 2], [0, 1, 3, 4], [0, 1, 5, 6])
    G, bend = np.empty((6, 7)), np.empty(6)
    for k, arms in enumerate(chains):
        G[2 * k], G[2 * k + 1] = dx[arms] @ S[arms], dy[arms] @ S[arms]
        bend[2 * k], bend[2 * k + 1] = -ddx[arms] @ rate[arms] ** 2, -ddy[arms] @ rate[arms] ** 2
    return G, bend


def _exact(end: Array, rates: Array, bends: tuple[Array, Array], torque: float, stiffness: float) -> tuple[Exact, ...]:
    """Compare the end.

    The midpoint rule is of order 2: its angles are wrong by dt^2 / 24 times the change of their second derivatives, its
    rates by that of the third (twelve times that is allowed). What the crank is late by, everything else is too; the
    energy, which does not ask for the time, is wrong by momentum times rate and force times angle.
    """
    fastest, jerk = bends
    own = 0.5 * DT**2 * fastest
    crank = abs(float(rates[0]))
    error = 1e-9 + own + own[0] * np.abs(rates) / crank
    late = 0.5 * DT**2 * float(jerk[0]) + float(fastest[0] * own[0]) / crank
    energy = np.abs(_mass(end) @ rates) @ (0.5 * DT**2 * jerk) + np.abs(_force(end, rates, torque, stiffness)) @ own
    return (
        *(
            check(f"{name} at the end", float(end[k]), "rad", last(name), moreau_jean=float(error[k]))
            for k, name in enumerate(ANGLES)
        ),
        check("rate of the crank at the end", float(rates[0]), "rad/s", _rate, moreau_jean=late),
        check("largest error of a joint", 0.0, "m", _joints, moreau_jean=1e-10),
        check("energy at the end less the work", 0.0, "J", _balance(torque), moreau_jean=float(energy)),
    )


def _angle(k: int) -> Any:
    """Return the function state -> one of the published angles, from the angles of the bodies."""
    return lambda state: float(_angles(state)[k])


def _angles(state: State) -> Array:
    turn = state.q[2::3]
    be, de, ep = turn[0], turn[4], turn[6]
    return np.array([be, turn[1] - math.pi - be, turn[2], turn[3] + math.pi / 2 - de, de, turn[5] - ep, ep])


def _rate(run: Any) -> float:
    return float(run.v[-1, 2])


def _joints(run: Any) -> float:
    return float(run.statistics["max_joint_error_m"])


def _balance(torque: float) -> Any:
    """Return the measure: energy at the end, less that at the start and the work of the motor, J."""
    return lambda run: float(run["energy"][-1] - run["energy"][0] - torque * (run["beta"][-1] - run["beta"][0]))
