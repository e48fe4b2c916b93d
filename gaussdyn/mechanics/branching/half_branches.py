"""Where branches pierce a small sphere around a configuration: all of them in a plane, by search in more directions.

On a circle the reduced equation is a trigonometric polynomial up to rounding; its roots are eigenvalues, so that none
is missed, close or double ones included.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...arrays import Array
from ...errors import InputError

SAMPLES = 64
STARTS = 32  # per direction of the kernel, when there are more than two
TURNS = 60
NEAR_LINE = 0.95
FLAT = 0.1
APART = 1e-4
SOME = 6
ON_CIRCLE = 1e-4  # how far from 1 a double root may lie in size, by rounding
SAME = 3e-6
Reduced = Callable[[Array], Array]
Sloped = Callable[[Array], tuple[Array, Array]]


def on_circle(g: Reduced, radius: float, noise: float) -> Array:
    """Return all unit vectors d in the plane with g(radius d) = 0, shape (n, 2); g has one component or more.

    Raises
    ------
    InputError
        g is zero all around: the set is a surface.
    """
    angles = np.arange(SAMPLES) * (2.0 * math.pi / SAMPLES)
    values = np.array([g(radius * _unit(a)) for a in angles])
    first = values[:, 0]
    roots = _trigonometric_roots(first, noise)
    found: list[float] = []
    for angle in roots:
        better = _polished(lambda a: float(g(radius * _unit(a))[0]), angle)
        others = np.abs(g(radius * _unit(better))[1:])
        if others.max(initial=0.0) <= 1e-6 * np.abs(values).max() and all(_apart(better, a) for a in found):
            found.append(better)
    return np.array([_unit(a) for a in sorted(a % (2.0 * math.pi) for a in found)]).reshape(-1, 2)


def on_sphere(both: Sloped, lines: Array, radius: float, noise: float) -> Array:
    """Return unit vectors d in k > 2 dimensions with g(radius d) = 0, looked for around lines of the tangent cone.

    `both` returns g and its Jacobian.
    """
    found: list[Array] = []
    for line in np.concatenate([lines, -lines]):
        starts = [line]
        steep = np.linalg.svd(both(radius * line)[1], compute_uv=False)
        if steep[-1] < FLAT * steep[0]:  # branches may touch here
            starts += [line + s * radius * e for e in np.linalg.svd(line[None])[2][1:] for s in (1.0, -1.0)]
        for start in starts:
            d = _settled(both, start / np.linalg.norm(start), radius, noise)
            if d is not None and d @ line > NEAR_LINE and not any(_same(both, d, one, radius, noise) for one in found):
                found.append(d)
    return np.array(found).reshape(-1, lines.shape[1])


def quadric_lines(forms: Array, known: Array) -> Array:
    """Return unit vectors x, shape (n, k), with x^T A_i x = 0 for all forms A: Gauss-Newton from many starts.

    One of x and -x is given, those `known` first. The number of starts is fixed; not all need find one.
    """
    k = forms.shape[1]
    size = np.linalg.norm(forms, axis=(1, 2))
    A = forms[size > 0.0] / size[size > 0.0, None, None]
    rng, found = np.random.default_rng(12345), known
    for _ in range(STARTS * min(k, SOME)):
        x = rng.normal(size=k)
        for _ in range(TURNS):
            x = x / float(np.linalg.norm(x))
            value = np.einsum("cij,i,j->c", A, x, x)
            if np.abs(value).max() < 1e-15:
                break
            x = x - np.linalg.lstsq(np.vstack([2.0 * A @ x, x]), np.r_[value, 0.0], rcond=1e-9)[0]
        x = x / float(np.linalg.norm(x))
        new = bool((np.abs(np.abs(found @ x) - 1.0) > 1e-8).all())
        if new and np.abs(np.einsum("cij,i,j->c", A, x, x)).max() < 1e-12:
            found = np.vstack([found, x])
    return found


def _unit(angle: float) -> Array:
    return np.array([math.cos(angle), math.sin(angle)])


def _apart(one: float, other: float) -> bool:
    return abs(math.remainder(one - other, 2.0 * math.pi)) > SAME


def _trigonometric_roots(values: Array, noise: float) -> list[float]:
    """Return the angles at which a periodic function, sampled evenly, is zero: double roots are pairs near them."""
    n = len(values)
    waves = np.fft.fft(values) / n
    size = float(np.abs(waves).max())
    if size <= noise:
        raise InputError(
            "reduced equation",
            f"{size:.2g} all around",
            "a function that is not zero everywhere",
            "Look at the constraints there: gaussdyn branches SCENE.",
        )
    order = np.fft.fftfreq(n, 1.0 / n).astype(int)
    kept = np.abs(waves) > max(4.0 * noise / math.sqrt(n), 1e-14 * size)
    top = int(np.abs(order[kept]).max())
    if top >= n // 2 - 2:
        top = n // 2 - 2
    along = np.array([waves[j % n] for j in range(top, -top - 1, -1)])
    z = np.roots(along)
    near = z[np.abs(np.abs(z) - 1.0) < ON_CIRCLE]
    return [math.atan2(x.imag, x.real) for x in near]


def _polished(f: Callable[[float], float], a: float) -> float:
    """Return a root nearer by a few secant steps where they help."""
    h = 1e-6
    fa = f(a)
    for _ in range(4):
        slope = (f(a + h) - f(a - h)) / (2.0 * h)
        if slope == 0.0:
            break
        b = a - fa / slope
        fb = f(b)
        if abs(b - a) > 1e-5 or not abs(fb) < abs(fa):
            break
        a, fa = b, fb
    return a


def _same(both: Sloped, d: Array, other: Array, radius: float, noise: float) -> bool:
    """Return whether two zeros are one: on a curve that counts twice they scatter, and all between is zero too."""
    far = float(np.linalg.norm(d - other))
    if far <= APART or far > 0.1:
        return far <= APART
    middle = 0.5 * (d + other)
    return bool(np.abs(both(radius * middle / np.linalg.norm(middle))[0]).max() <= 100.0 * noise)


def _settled(both: Sloped, d: Array, radius: float, noise: float) -> Array | None:
    """Return a zero of g on the sphere near a start, or None."""
    value, slope = both(radius * d)
    scale = float(np.abs(value).max())
    for _ in range(40):
        if np.abs(value).max() <= 4.0 * noise:
            return d
        step = np.linalg.lstsq(np.vstack([radius * slope, d]), np.r_[-value, 0.0], rcond=1e-10)[0]
        trial = d + step
        trial = trial / np.linalg.norm(trial)
        try:
            found, slope_there = both(radius * trial)
        except InputError:
            return None
        if not np.linalg.norm(found) < np.linalg.norm(value):
            break
        d, value, slope = trial, found, slope_there
    return d if np.abs(value).max() <= max(1e-11 * scale, 16.0 * noise) else None
