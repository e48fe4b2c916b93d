"""Products of 6x6 blocks, and sums of what contacts add to one, within kernels, in vectors of four and two numbers.

Numba vectorises long loops only: written out as loops these run at a tenth of the speed. Sums are taken in the order of
the loops and nothing is fused, so that the bits are those of the loops, on every machine.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, config
from numba.extending import intrinsic

from .kernels import types

_IR: Any = cgutils.ir
_PARTS = ((0, 4), (4, 2))  # first column and width of the vectors that a row is made of


def _base(target: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return the address of the first number of an array."""
    return target.make_array(kind)(target, builder, value=array).data


def _address(builder: Any, base: Any, block: Any, row: int, column: int) -> Any:
    """Return the address of an entry of a block."""
    index = builder.add(builder.mul(block, _IR.Constant(block.type, 36)), _IR.Constant(block.type, 6 * row + column))
    return builder.gep(base, [index])


def _vector(builder: Any, base: Any, block: Any, row: int, column: int, width: int) -> Any:
    """Return the address of a vector of entries in a row."""
    kind = _IR.VectorType(_IR.DoubleType(), width)
    return builder.bitcast(_address(builder, base, block, row, column), kind.as_pointer())


def _repeated(builder: Any, number: Any, width: int) -> Any:
    """Return a vector of one number."""
    kind, index = _IR.VectorType(_IR.DoubleType(), width), _IR.IntType(32)
    one = builder.insert_element(_IR.Constant(kind, _IR.Undefined), number, _IR.Constant(index, 0))
    zeros = _IR.Constant(_IR.VectorType(index, width), [0] * width)
    return builder.shuffle_vector(one, _IR.Constant(kind, _IR.Undefined), zeros)


def _sum_of(builder: Any, terms: Any, width: int) -> Any:
    """Return the sum of numbers times vectors, from the left."""
    total = None
    for number, vector in terms:
        term = builder.fmul(_repeated(builder, number, width), vector)
        total = term if total is None else builder.fadd(total, term)
    return total


def _rows(builder: Any, base: Any, left: Any, right: Any) -> Any:
    """Yield row, column, width and value of the vectors of the product of two blocks."""
    known = {
        (k, column): builder.load(_vector(builder, base, right, k, column, width), align=8)
        for k in range(6)
        for column, width in _PARTS
    }
    for row in range(6):
        numbers = [builder.load(_address(builder, base, left, row, k)) for k in range(6)]
        for column, width in _PARTS:
            terms = ((numbers[k], known[k, column]) for k in range(6))
            yield row, column, width, _sum_of(builder, terms, width)


@intrinsic  # type: ignore[untyped-decorator]
def _subtract(context: Any, B: Any, d: Any, l: Any, u: Any) -> Any:
    """Put B[d] -= B[l] B[u]."""

    def _generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        base = _base(target, builder, signature.args[0], values[0])
        for row, column, width, product in _rows(builder, base, values[2], values[3]):
            place = _vector(builder, base, values[1], row, column, width)
            builder.store(builder.fsub(builder.load(place, align=8), product), place, align=8)
        return target.get_dummy_value()

    return types.void(B, d, l, u), _generate


@intrinsic  # type: ignore[untyped-decorator]
def _multiply(context: Any, B: Any, p: Any, k: Any) -> Any:
    """Put B[p] = B[p] B[k]."""

    def _generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        base = _base(target, builder, signature.args[0], values[0])
        for row, column, width, product in _rows(builder, base, values[1], values[2]):
            builder.store(product, _vector(builder, base, values[1], row, column, width), align=8)
        return target.get_dummy_value()

    return types.void(B, p, k), _generate


@intrinsic  # type: ignore[untyped-decorator]
def _congruent(context: Any, K: Any, J: Any, E: Any, c: Any) -> Any:
    """Put K += J^T E[c] J."""

    def _generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        k, j, e = (_base(target, builder, signature.args[i], values[i]) for i in range(3))
        index, zero = values[3].type, _IR.Constant(values[3].type, 0)
        first = builder.mul(values[3], _IR.Constant(index, 9))
        law = [builder.load(builder.gep(e, [builder.add(first, _IR.Constant(index, m))])) for m in range(9)]
        rows, products = {}, {}
        for row in range(3):
            for column, width in _PARTS:
                rows[row, column] = builder.load(_vector(builder, j, zero, row, column, width), align=8)
        for row in range(3):
            for column, width in _PARTS:
                terms = ((law[3 * row + m], rows[m, column]) for m in range(3))
                products[row, column] = _sum_of(builder, terms, width)
        for row in range(6):
            numbers = [builder.load(_address(builder, j, zero, m, row)) for m in range(3)]
            for column, width in _PARTS:
                total = _sum_of(builder, ((numbers[m], products[m, column]) for m in range(3)), width)
                place = _vector(builder, k, zero, row, column, width)
                builder.store(builder.fadd(builder.load(place, align=8), total), place, align=8)
        return target.get_dummy_value()

    return types.void(K, J, E, c), _generate


def _subtract_plainly(B: Any, d: int, l: int, u: int) -> None:
    """Put B[d] -= B[l] B[u]."""
    B[d] -= B[l] @ B[u]


def _multiply_plainly(B: Any, p: int, k: int) -> None:
    """Put B[p] = B[p] B[k]."""
    B[p] = B[p] @ B[k]


def _congruent_plainly(K: Any, J: Any, E: Any, c: int) -> None:
    """Put K += J^T E[c] J."""
    K += J.T @ (E[c] @ J)


subtract_product: Any = _subtract_plainly if config.DISABLE_JIT else _subtract
multiply_block: Any = _multiply_plainly if config.DISABLE_JIT else _multiply
"""Of blocks (n, 6, 6) of doubles, row by row in memory: B[d] -= B[l] B[u], and B[p] = B[p] B[k] with p != k."""
add_congruent: Any = _congruent_plainly if config.DISABLE_JIT else _congruent
"""Of a block (6, 6), rows (3, 6) and laws (n, 3, 3) of doubles: K += J^T E[c] J."""
