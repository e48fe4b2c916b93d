"""Four entries of arrays at a time, in kernels: what a compiler makes of some loops, it makes of these for certain.

Without code for entries that are left over, and without a look whether arrays overlap, which is most of the time where
rows are as short as those of robots. Rows have room for whole fours. Each entry comes out as it would by itself.
Arrays are contiguous; entries of those with several axes count one after the other.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, config
from numba.extending import intrinsic

from .kernels import types

_IR: Any = cgutils.ir


def _four(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Return the address of four entries."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _IR.VectorType(_IR.DoubleType(), 4).as_pointer())


def _read(builder: Any, place: Any) -> Any:
    four = builder.load(place)
    four.align = 8
    return four


def _write(builder: Any, four: Any, place: Any) -> None:
    builder.store(four, place).align = 8


def _spread(builder: Any, number: Any) -> Any:
    """Return a number four times."""
    four = _IR.Constant(_IR.VectorType(_IR.DoubleType(), 4), _IR.Undefined)
    for k in range(4):
        four = builder.insert_element(four, number, _IR.Constant(_IR.IntType(32), k))
    return four


@intrinsic  # type: ignore[untyped-decorator]
def scale_four(context: Any, x: Any, i: Any, s: Any) -> Any:
    """Put x[i : i + 4] = s x[i : i + 4]."""

    def _generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _four(target, builder, x, values[0], values[1])
        _write(builder, builder.fmul(_read(builder, place), _spread(builder, values[2])), place)
        return target.get_dummy_value()

    return types.void(x, types.intp, types.float64), _generate


@intrinsic  # type: ignore[untyped-decorator]
def add_four(context: Any, y: Any, i: Any, s: Any, x: Any, k: Any) -> Any:
    """Add s x[k : k + 4] to y[i : i + 4]."""

    def _generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _four(target, builder, y, values[0], values[1])
        other = _read(builder, _four(target, builder, x, values[3], values[4]))
        four = builder.fadd(_read(builder, place), builder.fmul(_spread(builder, values[2]), other))
        _write(builder, four, place)
        return target.get_dummy_value()

    return types.void(y, types.intp, types.float64, x, types.intp), _generate


@intrinsic  # type: ignore[untyped-decorator]
def add_two(context: Any, y: Any, i: Any, s: Any, x: Any, k: Any, t: Any, z: Any, l: Any) -> Any:
    """Add s x[k : k + 4], then t z[l : l + 4], to y[i : i + 4]."""

    def _generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _four(target, builder, y, values[0], values[1])
        first = _read(builder, _four(target, builder, x, values[3], values[4]))
        second = _read(builder, _four(target, builder, z, values[6], values[7]))
        four = builder.fadd(_read(builder, place), builder.fmul(_spread(builder, values[2]), first))
        _write(builder, builder.fadd(four, builder.fmul(_spread(builder, values[5]), second)), place)
        return target.get_dummy_value()

    kinds = y, types.intp, types.float64, x, types.intp, types.float64, z, types.intp
    return types.void(*kinds), _generate


@intrinsic  # type: ignore[untyped-decorator]
def add_four_rows(context: Any, y: Any, i: Any, s: Any, x: Any, k: Any) -> Any:
    """Add (s0 x[k0 ..] + s1 x[k1 ..]) + (s2 x[k2 ..] + s3 x[k3 ..]) to y[i : i + 4]; s and k are four each."""

    def _generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        place, parts = _four(target, builder, y, values[0], values[1]), []
        for a in range(4):
            at = builder.extract_value(values[4], a)
            four = _read(builder, _four(target, builder, x, values[3], at))
            parts.append(builder.fmul(_spread(builder, builder.extract_value(values[2], a)), four))
        four = builder.fadd(builder.fadd(parts[0], parts[1]), builder.fadd(parts[2], parts[3]))
        _write(builder, builder.fadd(_read(builder, place), four), place)
        return target.get_dummy_value()

    return types.void(y, types.intp, types.UniTuple(types.float64, 4), x, types.UniTuple(types.intp, 4)), _generate


@intrinsic  # type: ignore[untyped-decorator]
def none_of_four(context: Any, x: Any, i: Any) -> Any:
    """Return whether x[i : i + 4] are all zero."""

    def _generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        four = _read(builder, _four(target, builder, x, values[0], values[1]))
        zeros = _IR.Constant(four.type, [0.0] * 4)
        other = builder.bitcast(builder.fcmp_unordered("!=", four, zeros), _IR.IntType(4))
        return builder.icmp_unsigned("==", other, _IR.Constant(_IR.IntType(4), 0))

    return types.boolean(x, types.intp), _generate


if config.DISABLE_JIT:  # kernels are plain Python then

    def scale_four(x: Any, i: int, s: float) -> None:
        """Put x[i : i + 4] = s x[i : i + 4]."""
        x[i : i + 4] *= s

    def add_four(y: Any, i: int, s: float, x: Any, k: int) -> None:
        """Add s x[k : k + 4] to y[i : i + 4]."""
        y[i : i + 4] += s * x.ravel()[k : k + 4]

    def add_two(y: Any, i: int, s: float, x: Any, k: int, t: float, z: Any, l: int) -> None:
        """Add s x[k : k + 4], then t z[l : l + 4], to y[i : i + 4]."""
        y[i : i + 4] += s * x.ravel()[k : k + 4]
        y[i : i + 4] += t * z.ravel()[l : l + 4]

    def add_four_rows(y: Any, i: int, s: Any, x: Any, k: Any) -> None:
        """Add (s0 x[k0 ..] + s1 x[k1 ..]) + (s2 x[k2 ..] + s3 x[k3 ..]) to y[i : i + 4]."""
        parts = [s[a] * x.ravel()[k[a] : k[a] + 4] for a in range(4)]
        y[i : i + 4] += (parts[0] + parts[1]) + (parts[2] + parts[3])

    def none_of_four(x: Any, i: int) -> bool:
        """Return whether x[i : i + 4] are all zero."""
        return not x[i : i + 4].any()
