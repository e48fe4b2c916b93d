"""A body spinning in free space: it may turn over and over about its middle axis; energy and momentum stay.

Source: Euler's equations, solved by Jacobi's elliptic functions (Landau, Lifshitz, Mechanics, section 37).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ...linalg.rotations import matrix_of
from ...mechanics.scene import Parameter, Scene
from ...mechanics.spatial.bodies import brick
from ...mechanics.spatial.system import SpatialSystem
from ..measures.measures import check, energy_change, last
from ..measures.spatial_measures import body_columns

PARAMETERS = {
    "wx": Parameter(default=4.0, unit="rad/s", min=1.0, max=6.0, meaning="spin about the axis of least inertia"),
    "wz": Parameter(default=2.0, unit="rad/s", min=1.0, max=6.0, meaning="spin about the axis of largest inertia"),
    "a": Parameter(default=0.3, unit="m", min=0.25, max=0.4, meaning="half side along x; the others are 0.2 and 0.1"),
    "mass": Parameter(default=1.0, unit="kg", min=1e-3, max=1e3, meaning="of the box"),
}
DT, T_END = 1e-3, 5.0  # s


def build(wx: float, wz: float, a: float, mass: float) -> Scene:
    """Return the scene: no forces at all."""
    body = brick("box", mass=mass, half=(a, 0.2, 0.1))
    system = SpatialSystem(bodies=[body], gravity=(0.0, 0.0, 0.0))
    J, start = np.diag(np.array(body.inertia)), np.array([wx, 0.0, wz])
    w, fastest = spin(J, wx, wz, T_END), float(np.hypot(wx, wz))
    late = 0.1 * T_END * (DT * fastest) ** 2 * fastest**2  # a time error of order dt^2, times the largest w'
    exact = (
        *(
            check(f"w{e} at the end", float(w[k]), "rad/s", last(f"box.w{e}"), moreau_jean=late, located=True)
            for k, e in enumerate("xyz")
        ),
        check("largest change of energy", 0.0, "J", energy_change, moreau_jean=5e-11 * float(J @ start**2)),
        check(
            "largest change of momentum", 0.0, "N m s", _turned(J), moreau_jean=1e-10 * float(np.linalg.norm(J * start))
        ),
    )
    return Scene(
        name="free_body",
        title="Free body: spin about the middle axis does not last",
        source="L. D. Landau, E. M. Lifshitz, Mechanics, section 37",
        system=system,
        state=system.state({"box": (0.0, 0.0, 0.0)}, {"box": (0.0, 0.0, 0.0, *start)}),
        t_end=T_END,
        dt=DT,
        params={"wx": wx, "wz": wz, "a": a, "mass": mass},
        exact=exact,
        tests=("rotations in space", "gyroscopic terms", "conservation of energy and angular momentum"),
        columns=body_columns(system),
        dim=3,
    )


def spin(J: Array, wx: float, wz: float, t: float) -> Array:
    """Return the angular velocity in body axes after t (s), from (wx, 0, wz) with wx, wz > 0; J1 < J2 < J3.

    Either w = (wx cn, a sn, wz dn) or (wx dn, a sn, wz cn) of rate t; Euler's equations give a, rate and the modulus.
    """
    from scipy.special import ellipj

    J1, J2, J3 = (float(x) for x in J)
    a = wx * ((J3 - J1) * J1 / (J2 * (J3 - J2))) ** 0.5
    rate = (J3 - J1) * wx * wz / (J2 * a)
    m = (J2 - J1) * wx * a / (J3 * wz * rate)
    swapped = m > 1.0
    if swapped:
        a = wz * ((J3 - J1) * J3 / (J2 * (J2 - J1))) ** 0.5
        rate = (J3 - J1) * wx * wz / (J2 * a)
        m = (J3 - J2) * wz * a / (J1 * wx * rate)
    sn, cn, dn, _ = ellipj(rate * t, m)
    first, third = (dn, cn) if swapped else (cn, dn)
    return np.array([wx * first, a * sn, wz * third])


def _turned(J: Array) -> Any:
    def change(run: Any) -> float:
        """Return the largest change of the angular momentum in space, N m s."""
        L = np.array([matrix_of(q[3:7]) @ (J * v[3:6]) for q, v in zip(run.q, run.v, strict=True)])
        return float(np.abs(L - L[0]).max())

    return change
