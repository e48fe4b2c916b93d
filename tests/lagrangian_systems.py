"""Systems from symbols for the tests: mechanisms, nonholonomic systems, the singular pendulum; and their motion.

Every builder takes numbers and returns a `LagrangianSystem`; `motion` integrates it with scipy from the accelerations
that its M, h and rows give, without any solver of the package.
"""

from __future__ import annotations

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import dynamicsymbols

from gaussdyn.mechanics.lagrangian.system import Contact, Holonomic, LagrangianSystem, Nonholonomic

t = dynamicsymbols._t
sin, cos, sqrt = sp.sin, sp.cos, sp.sqrt


def accelerate(system, time, q, v):
    """Acceleration and reactions of the bilateral rows, from the saddle point system in numpy."""
    n, rows = system.nv, [row for row in system.rows(time, q, v) if row.kind == "bilateral"]
    J = np.vstack([np.zeros((0, n)), *(row.J for row in rows)])
    drift = np.concatenate([np.zeros(0), *(row.drift for row in rows)])
    K = np.block([[system.mass(q), -J.T], [J, np.zeros((len(J), len(J)))]])
    x = np.linalg.solve(K, np.concatenate([system.force(time, q, v), -drift]))
    return x[:n], x[n:]


def motion(system, q, v, times, rtol=1e-11, atol=1e-12):
    """q and v at the given times, shape (len(times), 2 nv); the start is at time 0."""
    n = system.nv

    def rhs(s, y):
        return np.concatenate([y[n:], accelerate(system, s, y[:n].copy(), y[n:].copy())[0]])

    y0 = np.concatenate([np.asarray(q, float), np.asarray(v, float)])
    done = solve_ivp(rhs, (0.0, times[-1]), y0, method="DOP853", rtol=rtol, atol=atol, t_eval=times)
    assert done.success
    return done.y.T


def pendulum(m=1.3, L=0.7, g=9.81, **options):
    """A pendulum by its angle from the downward vertical."""
    angle = dynamicsymbols("angle")
    M, LL, G = sp.symbols("m L g")
    return LagrangianSystem(
        {angle: "rad"},
        kinetic=M * LL**2 * angle.diff() ** 2 / 2,
        potential=-M * G * LL * cos(angle),
        parameters={M: (m, "kg"), LL: (L, "m"), G: (g, "m/s^2")},
        drawing={"rod": [(0, 0), (LL * sin(angle), -LL * cos(angle))], "bob": [(LL * sin(angle), -LL * cos(angle))]},
        **options,
    )


def cartesian_pendulum(m=1.3, L=0.7, g=9.81, **options):
    """The same in x (right) and y (up), held by a rod."""
    x, y = dynamicsymbols("x y")
    M, LL, G = sp.symbols("m L g")
    return LagrangianSystem(
        {x: "m", y: "m"},
        kinetic=M * (x.diff() ** 2 + y.diff() ** 2) / 2,
        potential=M * G * y,
        constraints=[Holonomic((x**2 + y**2 - LL**2) / (2 * LL), name="rod")],
        parameters={M: (m, "kg"), LL: (L, "m"), G: (g, "m/s^2")},
        **options,
    )


def double_pendulum(m1=1.0, m2=0.6, L1=0.8, L2=0.5, g=9.81, **options):
    a, b = dynamicsymbols("a b")
    names = sp.symbols("m1 m2 L1 L2 g")
    M1, M2, l1, l2, G = names
    x1, y1 = l1 * sin(a), -l1 * cos(a)
    x2, y2 = x1 + l2 * sin(b), y1 - l2 * cos(b)
    speed1, speed2 = (x.diff(t) ** 2 + y.diff(t) ** 2 for x, y in ((x1, y1), (x2, y2)))
    return LagrangianSystem(
        {a: "rad", b: "rad"},
        kinetic=(M1 * speed1 + M2 * speed2) / 2,
        potential=G * (M1 * y1 + M2 * y2),
        parameters=dict(zip(names, (m1, m2, L1, L2, g), strict=True)),
        **options,
    )


def slider_crank(r=0.2, L=0.5, J=0.04, m_rod=0.7, m=1.1, g=9.81, **options):
    """Crank angle, rod angle and slider position, closed by two constraints; the rod is uniform."""
    a, b, x = dynamicsymbols("a b x")
    names = sp.symbols("r L J m_rod m g")
    R, LL, I, mr, ms, G = names
    xc, yc = R * cos(a) + LL / 2 * cos(b), R * sin(a) - LL / 2 * sin(b)
    T = I * a.diff() ** 2 / 2 + ms * x.diff() ** 2 / 2
    T += mr * (xc.diff(t) ** 2 + yc.diff(t) ** 2) / 2 + mr * LL**2 / 24 * b.diff() ** 2
    closed = [
        Holonomic(R * cos(a) + LL * cos(b) - x, name="along"),
        Holonomic(R * sin(a) - LL * sin(b), name="across"),
    ]
    return LagrangianSystem(
        {a: "rad", b: "rad", x: "m"},
        kinetic=T,
        potential=mr * G * yc,
        constraints=closed,
        parameters=dict(zip(names, (r, L, J, m_rod, m, g), strict=True)),
        **options,
    )


def sleigh(m=1.0, J=0.5, c=0.4, slope=0.0, **options):
    """Chaplygin's sleigh by its mass centre, the knife at c behind it; `slope` pulls along -y, m/s^2."""
    x, y, phi = dynamicsymbols("x y phi")
    M, I, C, s = sp.symbols("m J c slope")
    knife = Nonholonomic(-sin(phi) * x.diff() + cos(phi) * y.diff() - C * phi.diff(), name="knife")
    return LagrangianSystem(
        {x: "m", y: "m", phi: "rad"},
        kinetic=M * (x.diff() ** 2 + y.diff() ** 2) / 2 + I * phi.diff() ** 2 / 2,
        potential=M * s * y,
        constraints=[knife],
        parameters={M: (m, "kg"), I: (J, "kg m^2"), C: (c, "m"), s: (slope, "m/s^2")},
        **options,
    )


def knife_edge(g=3.0, **options):
    """A knife edge on a slope with the pull g along x, mass and inertia 1."""
    x, y, phi = dynamicsymbols("x y phi")
    G = sp.Symbol("g")
    return LagrangianSystem(
        {x: "m", y: "m", phi: "rad"},
        kinetic=(x.diff() ** 2 + y.diff() ** 2 + phi.diff() ** 2) / 2,
        potential=-G * x,
        constraints=[Nonholonomic(x.diff() * sin(phi) - y.diff() * cos(phi), name="edge")],
        parameters={G: g},
        **options,
    )


def upright_disc(m=2.0, R=0.3, **options):
    """A disc that rolls upright: contact point (x, y), heading and roll."""
    x, y, heading, roll = dynamicsymbols("x y heading roll")
    M, r = sp.symbols("m R")
    T = M * (x.diff() ** 2 + y.diff() ** 2) / 2 + M * r**2 * (heading.diff() ** 2 / 8 + roll.diff() ** 2 / 4)
    return LagrangianSystem(
        {x: "m", y: "m", heading: "rad", roll: "rad"},
        kinetic=T,
        constraints=[
            Nonholonomic(x.diff() - r * roll.diff() * cos(heading), name="x"),
            Nonholonomic(y.diff() - r * roll.diff() * sin(heading), name="y"),
        ],
        parameters={M: (m, "kg"), r: (R, "m")},
        **options,
    )


def eulers_disc(m=0.5, R=0.08, g=9.81, **options):
    """A thin disc that rolls on the floor: mass centre (x, y), precession, tilt from the horizontal, spin."""
    x, y, phi, tilt, psi = dynamicsymbols("x y phi tilt psi")
    M, r, G = sp.symbols("m R g")
    A, spin = M * r**2 / 4, psi.diff() + phi.diff() * cos(tilt)
    T = M * (x.diff() ** 2 + y.diff() ** 2 + (r * sin(tilt)).diff(t) ** 2) / 2
    T += A * (tilt.diff() ** 2 + (phi.diff() * sin(tilt)) ** 2) / 2 + A * spin**2
    along = x.diff() - r * tilt.diff() * sin(tilt) * sin(phi) + r * spin * cos(phi)
    across = y.diff() + r * tilt.diff() * sin(tilt) * cos(phi) + r * spin * sin(phi)
    return LagrangianSystem(
        {x: "m", y: "m", phi: "rad", tilt: "rad", psi: "rad"},
        kinetic=T,
        potential=M * G * r * sin(tilt),
        constraints=[Nonholonomic(along, name="x"), Nonholonomic(across, name="y")],
        parameters={M: (m, "kg"), r: (R, "m"), G: (g, "m/s^2")},
        **options,
    )


def ellipse_distance(u, a, b, c):
    """Distance from the origin to the ellipse with centre (c, 0) and semi-axes a, b in the direction u."""
    root = sqrt(b**2 * cos(u) ** 2 + (a**2 - c**2) * sin(u) ** 2)
    return b * (c * b * cos(u) + a * root) / (b**2 * cos(u) ** 2 + a**2 * sin(u) ** 2)


def spring_pendulum(a=4.0, b=2.3, k=1e5, l1=2.0, l2=1.0, m1=1.0, m2=1.0, g=9.81, **options):
    """The singular pendulum with a spring for its second rod: u, the direction of the point on the ellipse (x axis
    down), and theta, the angle between it and the first rod."""
    u, theta = dynamicsymbols("u theta")
    names = sp.symbols("a b k l1 l2 m1 m2 g")
    A, B, K, L1, L2, M1, M2, G = names
    d = ellipse_distance(u, A, B, L1 - L2 - A)
    stretch = sqrt(d**2 + L1**2 - 2 * d * L1 * cos(theta)) - L2
    T = M1 * L1**2 * (u.diff() + theta.diff()) ** 2 / 2 + M2 * (d.diff(t) ** 2 + d**2 * u.diff() ** 2) / 2
    V = -M1 * G * L1 * cos(u + theta) - M2 * G * d * cos(u) + K * stretch**2 / 2
    return LagrangianSystem(
        {u: "rad", theta: "rad"},
        kinetic=T,
        potential=V,
        parameters=dict(zip(names, (a, b, k, l1, l2, m1, m2, g), strict=True)),
        **options,
    )


def singular_pendulum(a=4.0, b=2.3, l1=2.0, l2=1.0, m1=1.0, m2=1.0, g=9.81, **options):
    """The same with a rigid rod, in Cartesian coordinates (x down): first mass on a circle, second on the ellipse."""
    x1, y1, x2, y2 = dynamicsymbols("x1 y1 x2 y2")
    names = sp.symbols("a b l1 l2 m1 m2 g")
    A, B, L1, L2, M1, M2, G = names
    rods = [
        Holonomic(x1**2 + y1**2 - L1**2, name="rod1"),
        Holonomic((x1 - x2) ** 2 + (y1 - y2) ** 2 - L2**2, name="rod2"),
        Holonomic((x2 - (L1 - L2 - A)) ** 2 / A**2 + y2**2 / B**2 - 1, name="ellipse"),
    ]
    return LagrangianSystem(
        dict.fromkeys((x1, y1, x2, y2), "m"),
        kinetic=(M1 * (x1.diff() ** 2 + y1.diff() ** 2) + M2 * (x2.diff() ** 2 + y2.diff() ** 2)) / 2,
        potential=-G * (M1 * x1 + M2 * x2),
        constraints=rods,
        parameters=dict(zip(names, (a, b, l1, l2, m1, m2, g), strict=True)),
        **options,
    )


def chain(n, m=1.0, L=0.3, g=9.81, **options):
    """A chain of n uniform rods by their angles, its end pinned at (n L / 2, 0), with a frictional contact."""
    q = dynamicsymbols(f"q0:{n}")
    M, LL, G = sp.symbols("m L g")
    x = y = T = V = sp.S.Zero
    joints = []
    for angle in q:
        xc, yc = x + LL / 2 * sin(angle), y - LL / 2 * cos(angle)
        T += M * (xc.diff(t) ** 2 + yc.diff(t) ** 2) / 2 + M * LL**2 / 24 * angle.diff() ** 2
        V += M * G * yc
        x, y = x + LL * sin(angle), y - LL * cos(angle)
        joints.append((x, y))
    middle = joints[n // 2]
    return LagrangianSystem(
        dict.fromkeys(q, "rad"),
        kinetic=T,
        potential=V,
        constraints=[
            Holonomic(x - n * LL / 2, name="end.x"),
            Holonomic(y, name="end.y"),
            Contact(middle[1] + n * LL, middle[0].diff(t), mu=sp.Rational(1, 3), name="middle/floor"),
        ],
        parameters={M: m, LL: L, G: g},
        **options,
    )


SQUEEZER = {
    "m1": 0.04325, "m2": 0.00365, "m3": 0.02373, "m4": 0.00706, "m5": 0.07050, "m6": 0.00706, "m7": 0.05498,
    "J1": 2.194e-6, "J2": 4.410e-7, "J3": 5.255e-6, "J4": 5.667e-7, "J5": 1.169e-5, "J6": 5.667e-7, "J7": 1.912e-5,
    "xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072, "c0": 4530.0,
    "d": 0.028, "da": 0.0115, "e": 0.02, "ea": 0.01421, "zf": 0.02, "fa": 0.01421, "rr": 0.007, "ra": 0.00092,
    "ss": 0.035, "sa": 0.01874, "sb": 0.01043, "sc": 0.018, "sd": 0.02, "zt": 0.04, "ta": 0.02308, "tb": 0.00916,
    "u": 0.04, "ua": 0.01228, "ub": 0.00449, "l0": 0.07785, "mom": 0.033,
}  # fmt: skip
SQUEEZER_START = (
    -0.0617138900142764496, 0.0, 0.4552798191630703803, 0.2226683901658858847, 0.4873649795438425502,
    -0.2226683901658858847, 1.2305474445498211925,
)  # fmt: skip


def squeezer(**options):
    """Andrews' squeezing mechanism: seven bodies, six closures (Hairer & Wanner, Solving ODE II, VII.7)."""
    q = beta, theta, gamma, phi, delta, omega, eps = dynamicsymbols("beta Theta gamma phi delta Omega epsilon")
    p = {name: sp.Symbol(name) for name in SQUEEZER}

    def turned(angle, along, across=0):
        return sp.Matrix([along * cos(angle) - across * sin(angle), along * sin(angle) + across * cos(angle)])

    A, B, C = (sp.Matrix([p[f"x{k}"], p[f"y{k}"]]) for k in "abc")
    tip = turned(beta, p["rr"]) - turned(beta + theta, p["d"])
    centres = [
        turned(beta, p["ra"]),
        turned(beta, p["rr"]) - turned(beta + theta, p["da"]),
        B + turned(gamma, p["sb"], -p["sa"]),
        A + turned(delta, p["zt"]) + turned(phi + delta, 0, p["ea"] - p["e"]),
        A + turned(delta, p["ta"], -p["tb"]),
        A + turned(eps, 0, -p["u"]) + turned(omega + eps, p["zf"] - p["fa"]),
        A + turned(eps, p["ua"], -p["ub"]),
    ]
    angles = [beta, beta + theta, gamma, phi + delta, delta, omega + eps, eps]
    T = sp.S.Zero
    for k, (centre, angle) in enumerate(zip(centres, angles, strict=True)):
        speed = centre.diff(t)
        T += (p[f"m{k + 1}"] * speed.dot(speed) + p[f"J{k + 1}"] * angle.diff(t) ** 2) / 2
    spring = B + turned(gamma, p["sd"], -p["sc"]) - C
    joints = [
        tip + turned(gamma, 0, p["ss"]) - B,
        tip + turned(phi + delta, 0, p["e"]) - turned(delta, p["zt"]) - A,
        tip - turned(omega + eps, p["zf"]) + turned(eps, 0, p["u"]) - A,
    ]
    names = [f"{name}.{x}" for name in "BDE" for x in "xy"]
    closed = dict(zip(names, sp.Matrix.vstack(*joints), strict=True))
    return LagrangianSystem(
        dict.fromkeys(q, "rad"),
        kinetic=T,
        potential=p["c0"] * (sqrt(spring.dot(spring)) - p["l0"]) ** 2 / 2,
        forces={beta: p["mom"]},
        constraints=[Holonomic(phi, name=name) for name, phi in closed.items()],
        parameters=SQUEEZER,
        **options,
    )
