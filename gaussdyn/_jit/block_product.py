"""Products of 6x6 blocks, and sums of what contacts add to one, within kernels, in vectors of four and two numbers.

Numba vectorises long loops only: written out as loops these run at a tenth of the speed. Sums are taken in the order of
the loops and nothing is fused, so that the bits are those of the loops, on every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
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


def _pieces(builder: Any, numbers: Any) -> dict[int, Any]:
    """Return a row of six numbers as vectors, by their first columns."""
    found = {}
    for column, width in _PARTS:
        vector = _IR.Constant(_IR.VectorType(_IR.DoubleType(), width), _IR.Undefined)
        for k in range(width):
            vector = builder.insert_element(vector, numbers[column + k], _IR.Constant(_IR.IntType(32), k))
        found[column] = vector
    return found


def _numbers(builder: Any, pieces: dict[int, Any]) -> list[Any]:
    """Return the six numbers of a row of vectors."""
    return [
        builder.extract_element(pieces[column], _IR.Constant(_IR.IntType(32), k))
        for column, width in _PARTS
        for k in range(width)
    ]


def _turned(builder: Any, r: Any, x: Any) -> list[Any]:
    """Return r cross x, each entry r_i x_j - r_j x_i."""
    return [
        builder.fsub(builder.fmul(r[(k + 1) % 3], x[(k + 2) % 3]), builder.fmul(r[(k + 2) % 3], x[(k + 1) % 3]))
        for k in range(3)
    ]


def _plus_turned(builder: Any, d: Any, x: Any, begin: Any) -> list[Any]:
    """Return begin + d cross x in its first order, (begin_k + d_i x_j) - d_j x_i, for numbers or vectors."""
    found = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        total = builder.fadd(begin[k], builder.fmul(d[i], x[j]))
        found.append(builder.fsub(total, builder.fmul(d[j], x[i])))
    return found


def _put(builder: Any, base: Any, block: Any, rows: Any, sign: Any) -> None:
    """Add six rows to a block, or take them from it."""
    for row in range(6):
        for column, width in _PARTS:
            place = _vector(builder, base, block, row, column, width)
            builder.store(sign(builder.load(place, align=8), rows[row][column]), place, align=8)


@intrinsic  # type: ignore[untyped-decorator]
def _congruent(context: Any, K: Any, R: Any, r: Any, E: Any, c: Any) -> Any:
    """Put K += J^T E[c] J, J = R[c] [1, -[r[c]]x]."""

    def _generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        to, axes, arm, e = (_base(target, builder, signature.args[i], values[i]) for i in range(4))
        index, zero = values[4].type, _IR.Constant(values[4].type, 0)

        def load(base: Any, size: int) -> list[Any]:
            first = builder.mul(values[4], _IR.Constant(index, size))
            return [builder.load(builder.gep(base, [builder.add(first, _IR.Constant(index, m))])) for m in range(size)]

        law, frame, d = load(e, 9), load(axes, 9), load(arm, 3)
        J = [frame[3 * m : 3 * m + 3] + _turned(builder, d, frame[3 * m : 3 * m + 3]) for m in range(3)]
        rows, products = [_pieces(builder, numbers) for numbers in J], {}
        for row in range(3):
            for column, width in _PARTS:
                terms = ((law[3 * row + m], rows[m][column]) for m in range(3))
                products[row, column] = _sum_of(builder, terms, width)
        for row in range(6):
            for column, width in _PARTS:
                total = _sum_of(builder, ((J[m][row], products[m, column]) for m in range(3)), width)
                place = _vector(builder, to, zero, row, column, width)
                builder.store(builder.fadd(builder.load(place, align=8), total), place, align=8)
        return target.get_dummy_value()

    return types.void(K, R, r, E, c), _generate


@intrinsic  # type: ignore[untyped-decorator]
def _moved(context: Any, B: Any, K: Any, d: Any, at: Any) -> Any:
    """Add K, X^T K X, -K X and -X^T K to the blocks at[0] to at[3] of B, X = [[1, -[d]x], [0, 1]]."""

    def _generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        base, own = (_base(target, builder, signature.args[i], values[i]) for i in range(2))
        shift, blocks = cgutils.unpack_tuple(builder, values[2]), cgutils.unpack_tuple(builder, values[3])
        zero = _IR.Constant(blocks[0].type, 0)
        k: Any = []  # rows of K, L = K X, X^T K and X^T K X
        for row in range(6):
            k.append({c: builder.load(_vector(builder, own, zero, row, c, w), align=8) for c, w in _PARTS})
        numbers = [_numbers(builder, pieces) for pieces in k]
        l: Any = [_pieces(builder, x[:3] + _plus_turned(builder, shift, x[:3], x[3:])) for x in numbers]
        spread = {w: [_repeated(builder, x, w) for x in shift] for _, w in _PARTS}
        for rows, block, sign in ((k, 0, builder.fadd), (l, 2, builder.fsub)):
            _put(builder, base, blocks[block], rows, sign)
        for rows, block, sign in ((l, 1, builder.fadd), (k, 3, builder.fsub)):
            below = {
                c: _plus_turned(builder, spread[w], [rows[i][c] for i in range(3)], [rows[3 + i][c] for i in range(3)])
                for c, w in _PARTS
            }
            both = rows[:3] + [{c: below[c][i] for c, _ in _PARTS} for i in range(3)]
            _put(builder, base, blocks[block], both, sign)
        return target.get_dummy_value()

    return types.void(B, K, d, at), _generate


def _subtract_plainly(B: Any, d: int, l: int, u: int) -> None:
    """Put B[d] -= B[l] B[u]."""
    B[d] -= B[l] @ B[u]


def _multiply_plainly(B: Any, p: int, k: int) -> None:
    """Put B[p] = B[p] B[k]."""
    B[p] = B[p] @ B[k]


def _congruent_plainly(K: Any, R: Any, r: Any, E: Any, c: int) -> None:
    """Put K += J^T E[c] J, J = R[c] [1, -[r[c]]x]."""
    J = np.hstack([R[c], np.cross(r[c], R[c])])
    K += J.T @ (E[c] @ J)


def _moved_plainly(B: Any, K: Any, d: Any, at: Any) -> None:
    """Add K, X^T K X, -K X and -X^T K to the blocks at[0] to at[3] of B, X = [[1, -[d]x], [0, 1]]."""
    X = np.eye(6)
    X[:3, 3:] = np.cross(d, np.eye(3))
    B[at[0]] += K
    B[at[1]] += X.T @ K @ X
    B[at[2]] -= K @ X
    B[at[3]] -= X.T @ K


subtract_product: Any = _subtract_plainly if config.DISABLE_JIT else _subtract
multiply_block: Any = _multiply_plainly if config.DISABLE_JIT else _multiply
"""Of blocks (n, 6, 6) of doubles, row by row in memory: B[d] -= B[l] B[u], and B[p] = B[p] B[k] with p != k."""
add_congruent: Any = _congruent_plainly if config.DISABLE_JIT else _congruent
add_moved: Any = _moved_plainly if config.DISABLE_JIT else _moved
"""Of a block (6, 6), axes (n, 3, 3), arms (n, 3) and laws (n, 3, 3) of doubles: K += J^T E[c] J. Of blocks, one of
them, a shift (3 doubles) and 4 places: what a pair adds to a matrix."""
