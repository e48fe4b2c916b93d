"""Sites and sensors of trees, as plain checked values; what sensors read is in `sensing`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ...arrays import scalar, vector
from ...errors import InputError
from ...linalg.rotations import IDENTITY, unit_quaternion
from ...mends import one_of
from ..collision.shapes import Triple, triple
from ..names import check_name, nearest
from .bodies import Turn

Form = Literal["sphere", "ellipsoid", "box", "capsule"]
XYZ, WXYZ = ("x", "y", "z"), ("qw", "qx", "qy", "qz")
Parts = tuple[str, ...]
KINDS: dict[str, tuple[str, Parts, str]] = {  # kind: what it is of, names of its numbers, their unit
    "jointpos": ("joint", ("",), ""),
    "jointvel": ("joint", ("",), "/s"),
    "jointactuatorfrc": ("joint", ("",), "N"),
    "ballquat": ("ball", WXYZ, "1"),
    "ballangvel": ("ball", XYZ, "rad/s"),
    "tendonpos": ("tendon", ("",), "m"),
    "tendonvel": ("tendon", ("",), "m/s"),
    "actuatorpos": ("actuator", ("",), "m"),
    "actuatorvel": ("actuator", ("",), "m/s"),
    "actuatorfrc": ("actuator", ("",), "N"),
    "gyro": ("body", XYZ, "rad/s"),
    "accelerometer": ("body", XYZ, "m/s^2"),
    "velocimeter": ("body", XYZ, "m/s"),
    "framepos": ("body", XYZ, "m"),
    "framequat": ("body", WXYZ, "1"),
    "framexaxis": ("body", XYZ, "1"),
    "frameyaxis": ("body", XYZ, "1"),
    "framezaxis": ("body", XYZ, "1"),
    "framelinvel": ("body", XYZ, "m/s"),
    "frameangvel": ("body", XYZ, "rad/s"),
    "subtreecom": ("body", XYZ, "m"),
    "subtreelinvel": ("body", XYZ, "m/s"),
    "touch": ("site", ("",), "N"),
    "force": ("body", XYZ, "N"),
    "torque": ("body", XYZ, "N m"),
    "clock": ("", ("",), "s"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A place on a body, with axes and a volume.

    Parameters
    ----------
    name : str
    body : str
    at, turn : (x, y, z), (w, x, y, z)
        Its frame in that of the body, m.
    form : "sphere", "ellipsoid", "box" or "capsule"
    half : (a, b, c)
        Half lengths along its axes, m; of a sphere the first, of a capsule (along z) radius and half length.

    Raises
    ------
    InputError
        NaN, a length that is not positive, an unknown form.
    """

    name: str
    body: str
    at: Triple = (0.0, 0.0, 0.0)
    turn: Turn = IDENTITY
    form: Form = "sphere"
    half: Triple = (0.005, 0.005, 0.005)

    def __post_init__(self) -> None:
        check_name("name of a site", self.name)
        object.__setattr__(self, "at", triple(f"at of {self.name}", self.at))
        object.__setattr__(self, "turn", unit_quaternion(f"turn of {self.name}", self.turn))
        if self.form not in get_args(Form):
            raise InputError(
                f"form of {self.name}",
                repr(self.form),
                ", ".join(get_args(Form)),
                one_of("form", self.form, get_args(Form)),
            )
        half = vector(f"half of {self.name}", self.half, 3).tolist()
        if min(half[: {"sphere": 1, "capsule": 2}.get(self.form, 3)]) <= 0.0:
            raise InputError(f"half of {self.name}", half, "lengths > 0", "Write half=(0.1, 0.1, 0.1).")
        object.__setattr__(self, "half", tuple(half))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensor:
    """Something that reads a number, or several, of every saved state.

    Forces and accelerations are means over the step that ended in the state, as reactions are: zero in the first one.

    Parameters
    ----------
    name : str
    reads : str
        As in MJCF: jointpos, jointvel, jointactuatorfrc, ballquat, ballangvel, tendonpos, tendonvel, actuatorpos,
        actuatorvel, actuatorfrc; of a frame on a body: gyro, accelerometer, velocimeter, framepos, framequat,
        framexaxis, frameyaxis, framezaxis, framelinvel, frameangvel, force, torque (which the body and all that hangs
        on it exert on its parent there); of a body and all that hangs on it: subtreecom, subtreelinvel; of a site:
        touch; clock.
    of : str
        A joint, tendon, actuator, body or site.
    at, turn : (x, y, z), (w, x, y, z)
        Of a frame in that of its body, m.
    cutoff : float
        Largest absolute value, 0: none.

    Raises
    ------
    InputError
        An unknown kind, NaN, a negative cutoff.
    """

    name: str
    reads: str
    of: str = ""
    at: Triple = (0.0, 0.0, 0.0)
    turn: Turn = IDENTITY
    cutoff: float = 0.0

    def __post_init__(self) -> None:
        check_name("name of a sensor", self.name)
        if self.reads not in KINDS:
            raise InputError(f"reads of {self.name}", repr(self.reads), *nearest(str(self.reads), KINDS))
        object.__setattr__(self, "at", triple(f"at of {self.name}", self.at))
        object.__setattr__(self, "turn", unit_quaternion(f"turn of {self.name}", self.turn))
        object.__setattr__(self, "cutoff", scalar(f"cutoff of {self.name}", self.cutoff, low=0.0))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of a run that it fills."""
        return tuple(f"{self.name}.{part}" if part else self.name for part in KINDS[self.reads][1])
