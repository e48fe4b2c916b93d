"""Checks certificates of two contacts in space at rest, u = W r + q: python checker_spatial_several.py FILE ...

Standard library and the other checkers beside it. Modes with at most one slip are counted here by exact algebra. For
slips of both, with directions as functions of half-angle tangents, by Cramer N_k = n_k / d, s_k = S_k / d: polynomials
that are zero (e_k x U_k, minors of u_n = 0, e_k x u_k = 0) or of one sign (d, n, S) at a motion. Leaves are a tree of
boxes; coefficients of Bernstein bound polynomials in a box. docs/certificates.md says what a file holds.
"""

import sys
from fractions import Fraction
from itertools import pairwise, product
from math import comb, lcm
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from . import checker_blocks, checker_spatial
    from .checker import demand, exact
    from .checker_blocks import dot
    from .checker_spatial import plus, times
else:
    import checker_blocks
    import checker_spatial
    from checker import demand, exact
    from checker_blocks import dot
    from checker_spatial import plus, times

TILT = Fraction(1, 5)  # half-angle tangent of the turn of all charts: borders of boxes keep off symmetric directions
INFINITY = float("inf")
ZERO, ALIKE = ("G0", "G1", "M0", "M1"), ("d", "n0", "n1", "S0", "S1")
SPLITS = {"x": 0, "y": 1}


def verdict(read: Any) -> str:
    """Return "VALID: claim", "INVALID: place why" or "UNKNOWN: kind" for the JSON text that `read` returns."""
    return checker_blocks.verdict(read, KINDS)


def main(paths: list[str]) -> int:
    """Print the verdict of every file; return 0 if all are valid, 1 if one is invalid, 2 if one is none of theirs."""
    return checker_blocks.main(paths, KINDS)


def contacts(problem: Any, leaves: Any, at: list[str]) -> str:
    """Count the motions of all nine modes."""
    W, q, mu, mu_s = exact([problem[key] for key in ("W", "q", "mu", "mu_s")])
    demand([len(row) for row in [*W, q]] == [6] * 7 and len(mu) == len(mu_s) == 2, "has not two contacts in space")
    demand(all(0 < m <= s for m, s in zip(mu, mu_s, strict=True)), "has no friction")
    demand([leaf["mode"] for leaf in leaves] == ["SS", "++"], "has other leaves than SS and ++")
    found = 0
    for modes in product("DS+", repeat=2):
        at[0] = f"mode {''.join(modes)}"
        if modes == ("S", "S"):
            found += both_rest(W, q, mu_s, leaves[0])
        elif modes == ("+", "+"):
            found += both_slip(W, q, mu, leaves[1])
        elif "+" in modes:
            found += one_slips(W, q, mu, mu_s, modes)
        else:
            found += none_slips(W, q, mu_s, modes)
    one = "UNIQUE: exactly one motion solves the problem"
    said = ["NONE: no mode has a solution", one, f"MULTIPLE: exactly {found} values of motion solve the problem"]
    return said[min(found, 2)]


def none_slips(W: Any, q: Any, mu_s: Any, modes: Any) -> bool:
    """Return whether D and S together are a motion, by solving them."""
    stuck = [3 * k + i for k in range(2) if modes[k] == "S" for i in range(3)]
    r = [Fraction(0)] * 6
    for i, x in zip(stuck, solve([[*(W[i][j] for j in stuck), -q[i]] for i in stuck]), strict=True):
        r[i] = x[0]
    u = [dot(row, r) + end for row, end in zip(W, q, strict=True)]
    signs = [u[3 * k] if modes[k] == "D" else margin(r[3 * k : 3 * k + 3], mu_s[k]) for k in range(2)]
    demand(all(signs), "is on the border of the mode")
    return bool(min(signs) > 0)


def margin(r: Any, mu: Any) -> Any:
    """Return a number > 0 inside the friction cone, 0 on its border, < 0 outside."""
    return min(r[0], (mu * r[0]) ** 2 - r[1] ** 2 - r[2] ** 2) if r[0] else -abs(r[1]) - abs(r[2])


def both_rest(W: Any, q: Any, mu_s: Any, leaf: Any) -> bool:
    """Check r of the cones with W r = -q, or y with W^T y in their dual cones and y.q > 0."""
    demand(("witness" in leaf) != ("refutation" in leaf), "has not either a witness or a refutation")
    columns = [list(column) for column in zip(*W, strict=True)]
    if "witness" in leaf:
        r = exact(leaf["witness"])
        demand(not any(dot(row, r) + x for row, x in zip(W, q, strict=True)), "has reactions that leave a motion")
        demand(min(margin(r[3 * k : 3 * k + 3], mu_s[k]) for k in range(2)) >= 0, "has a reaction outside its cone")
        return True
    y = exact(leaf["refutation"])
    pulled = [dot(column, y) for column in columns]
    for k in range(2):
        n, a, b = pulled[3 * k : 3 * k + 3]
        demand(n >= 0 and mu_s[k] ** 2 * (a * a + b * b) <= n * n, "has multipliers outside the dual cone")
    demand(dot(y, q) > 0, "has multipliers without a contradiction")
    return False


def one_slips(W: Any, q: Any, mu: Any, mu_s: Any, modes: Any) -> int:
    """Return the number of motions with one slip beside D or S: roots of a quartic under sign conditions."""
    p, o = modes.index("+"), 1 - modes.index("+")
    free, stuck = range(3 * p, 3 * p + 3), [3 * o + i for i in range(3)] if modes[o] == "S" else []
    held = solve([[*(W[i][j] for j in stuck), *(-W[i][j] for j in free), -q[i]] for i in stuck])  # of r, 1
    local = []
    for i in [*free, 3 * o]:
        push = [dot([W[i][j] for j in stuck], [row[c] for row in held]) for c in range(4)]
        local.append([a + b for a, b in zip(push, [*(W[i][j] for j in free), q[i]], strict=True)])
    demand(local[0][3], "has no normal load")
    cosine, sine = turned([1, 0, -1], [0, 2])
    force = [[1, 0, 1], times(-mu[p], cosine), times(-mu[p], sine)]

    def pushed(row: Any) -> Any:
        """Return what the unit force does in a row, a polynomial over 1 + t^2."""
        return plus(*(times(a, b) for a, b in zip(row[:3], force, strict=True)))

    A = pushed(local[0])  # N = -q_n (1 + t^2) / A
    moved = [plus(times(-local[0][3], pushed(row)), times(row[3], A)) for row in local]  # times A / (1 + t^2)
    f = plus(times(cosine, moved[2]), times(-1, sine, moved[1]))
    speed = plus(times(cosine, moved[1]), times(sine, moved[2]))
    conditions = [times(-local[0][3], A), times(-local[0][3], speed)]  # sign A = sign -q_n where N > 0
    if modes[o] == "D":
        conditions.append(times(-local[0][3], moved[3]))
    else:
        r = [plus(times(-local[0][3], pushed(row)), times(row[3], A)) for row in held]
        inside = plus(times(mu_s[o] ** 2, r[0], r[0]), times(-1, r[1], r[1]), times(-1, r[2], r[2]))
        conditions += [times(-local[0][3], r[0]), inside]
    demand(len(f) == 5, "has a slip in the direction that no half-angle has, or in all")
    conditions = [checker_spatial.rest(g, f) for g in conditions]  # the same at the roots of f
    border = checker_spatial.gcd(f, conditions[-1])  # where the speed is zero it is no slip
    demand(
        not checker_spatial.count(border, conditions[:2], -INFINITY, INFINITY), "has a slip on the border of the mode"
    )
    return int(checker_spatial.count(f, conditions, -INFINITY, INFINITY))


def turned(cosine: Any, sine: Any) -> Any:
    """Return two polynomials, those of a direction turned by TILT."""
    c, s = (1 - TILT**2) / (1 + TILT**2), 2 * TILT / (1 + TILT**2)
    return plus(times(c, cosine), times(-s, sine)), plus(times(s, cosine), times(c, sine))


def both_slip(W: Any, q: Any, mu: Any, leaf: Any) -> int:
    """Return the number of motions with two slips: in each of four charts, directions with t in [-1, 1]."""
    trees, y = leaf["boxes"], exact(leaf["coupling"])
    demand(len(trees) == 4 and len(y) == 6, "has not four charts")
    columns = [*zip(*W, strict=True), q]
    demand(not any(dot(column, y) for column in columns), "has a coupling y whose y.u is not always zero")
    found = 0
    for tree, signs in zip(trees, product((1, -1), repeat=2), strict=True):
        symbols = iter(tree)
        found += counted(symbols, polynomials(W, q, mu, y, signs))
        demand(next(symbols, "") == "", "has more boxes than fit")
    return found


def polynomials(W: Any, q: Any, mu: Any, coupling: Any, signs: Any) -> Any:
    """Return Bernstein's coefficients over a chart of all that is zero or of one sign at a motion."""
    sides = [turned([sign, 0, -sign], [0, 2 * sign]) for sign in signs]
    e = [[place(p, k) for p in sides[k]] for k in range(2)]
    one = [place([1, 0, 1], k) for k in range(2)]
    push = [[one[k], mul({(0, 0): -mu[k]}, e[k][0]), mul({(0, 0): -mu[k]}, e[k][1])] for k in range(2)]
    # u_i = sum_k a_ik N_k / (1 + t_k^2) + q_i, with the true N_k: a_ik is of degree 2 in t_k
    a = [[add(*(mul({(0, 0): row[3 * k + i]}, push[k][i]) for i in range(3))) for k in range(2)] for row in W]
    rows = [[*a[i], {(0, 0): q[i]}] for i in range(6)]
    left, right = rows[0], rows[3]
    d, n0, n1 = minor(left, right, 0, 1), minor(left, right, 1, 2), minor(left, right, 2, 0)
    found = {"d": d, "n0": n0, "n1": n1}
    across = []
    for k in range(2):
        x, y = ([*rows[3 * k + i]] for i in (1, 2))
        U = [add(mul(row[0], n0), mul(row[1], n1), mul(row[2], d)) for row in (x, y)]
        found[f"G{k}"] = minor(e[k], U, 0, 1)
        found[f"S{k}"] = add(mul(e[k][0], U[0]), mul(e[k][1], U[1]))
        across.append(
            [add(mul(e[k][0], b), mul({(0, 0): Fraction(-1)}, e[k][1], c)) for b, c in zip(y, x, strict=True)]
        )
    for k, row in enumerate((left, right)):
        found[f"C{k}"] = add(*(mul({(0, 0): coupling[3 * k + 1 + i]}, e[k][i]) for i in range(2)))
        parts = [mul(row[i], minor(across[0], across[1], (i + 1) % 3, (i + 2) % 3)) for i in range(3)]
        found[f"M{k}"] = add(*parts)
    return {name: bernstein(p) for name, p in found.items()}


def place(p: Any, k: int) -> Any:
    """Return a polynomial in t_k as one in both."""
    return {((i, 0) if k == 0 else (0, i)): Fraction(x) for i, x in enumerate(p)}


def add(*terms: Any) -> Any:
    """Return the sum of polynomials."""
    keys = {key for term in terms for key in term}
    return {key: sum(term.get(key, 0) for term in terms) for key in keys}


def mul(*factors: Any) -> Any:
    """Return the product of polynomials."""
    found = {(0, 0): Fraction(1)}
    for factor in factors:
        new: Any = {}
        for (i, j), x in found.items():
            for (k, m), y in factor.items():
                new[i + k, j + m] = new.get((i + k, j + m), 0) + x * y
        found = new
    return found


def minor(left: Any, right: Any, i: int, j: int) -> Any:
    """Return the determinant of columns i and j of two rows."""
    return add(mul(left[i], right[j]), mul({(0, 0): Fraction(-1)}, left[j], right[i]))


def bernstein(p: Any) -> Any:
    """Return Bernstein's coefficients over [-1, 1]^2 times a positive number, integers by rows (t_0) and columns."""
    m, n = (max((key[k] for key, x in p.items() if x), default=0) for k in range(2))
    rows = [to_unit([p.get((i, j), 0) for i in range(m + 1)]) for j in range(n + 1)]
    table = [to_unit(list(row)) for row in zip(*rows, strict=True)]
    scale = lcm(*(Fraction(x).denominator for row in table for x in row))
    return [[int(x * scale) for x in row] for row in table]


def to_unit(p: Any) -> Any:
    """Return Bernstein's coefficients over [-1, 1]."""
    n = len(p) - 1
    power = [sum(p[k] * comb(k, i) * 2**i * (-1) ** (k - i) for k in range(i, n + 1)) for i in range(n + 1)]
    return [sum(Fraction(comb(k, i), comb(n, i)) * power[i] for i in range(k + 1)) for k in range(n + 1)]


def counted(tree: Any, box: Any) -> int:
    """Return the number of motions in a box, as its tree in preorder says: a split, or why it is done."""
    symbol = next(tree, "")
    if symbol in SPLITS:
        low, high = halves(box, SPLITS[symbol])
        return counted(tree, low) + counted(tree, high)
    demand(symbol and done(box, symbol), "has a box that is not decided")
    return int(symbol == "m")


def done(box: Any, symbol: str) -> bool:
    """Return whether a symbol holds: 0-3 no zero, a, c signs contradict, k no root, m one motion."""
    if symbol in "0123":
        return sign(box[ZERO[int(symbol)]]) != 0
    if symbol == "c":  # s_0 C_0 + s_1 C_1 = y.u = 0
        return sign(box["C0"]) * sign(box["C1"]) == 1
    if symbol == "k":
        return krawczyk(box) == -1
    signs = {sign(box[name]) for name in ALIKE}
    return {1, -1} <= signs if symbol == "a" else symbol == "m" and len(signs - {0}) == len(signs) == 1 == krawczyk(box)


def sign(table: Any) -> int:
    """Return 1 or -1 if all coefficients have that sign, else 0."""
    low, high = min(map(min, table)), max(map(max, table))
    return int(low > 0) - int(high < 0)


def halves(box: Any, axis: int) -> Any:
    """Return the coefficients on both halves of a box (de Casteljau), each polynomial times a positive number."""
    parts = {name: split(table) if axis == 0 else [flip(x) for x in split(flip(table))] for name, table in box.items()}
    return [{name: part[side] for name, part in parts.items()} for side in range(2)]


def flip(table: Any) -> Any:
    """Return the transpose."""
    return [list(column) for column in zip(*table, strict=True)]


def split(rows: Any) -> Any:
    """Return a table on the halves of its first variable."""
    n, low, high = len(rows) - 1, [], []
    for k in range(n + 1):  # at level k all rows are 2^k times what they are
        low.append([x << (n - k) for x in rows[0]])
        high.append([x << (n - k) for x in rows[-1]])
        rows = [[x + y for x, y in zip(a, b, strict=True)] for a, b in pairwise(rows)]
    return low, high[::-1]


def krawczyk(box: Any) -> int:
    """Return 1 if G0 = G1 = 0 has exactly one root in the box, inside, -1 if none, 0 if that is not known."""
    G = [box["G0"], box["G1"]]
    J = [[slope(table, axis) for axis in range(2)] for table in G]
    middle = [[(low + high) / 2 for low, high in row] for row in J]
    det = middle[0][0] * middle[1][1] - middle[0][1] * middle[1][0]
    if not det:
        return 0
    Y = [[middle[1][1] / det, -middle[0][1] / det], [-middle[1][0] / det, middle[0][0] / det]]
    at = [centre(table) for table in G]
    inside, half = True, Fraction(1, 2)
    for i in range(2):
        reach = Fraction(0)
        for j in range(2):
            spread = sum(abs(Y[i][k]) * (J[k][j][1] - J[k][j][0]) / 2 for k in range(2))
            reach += spread / 2  # |1 - Y J| <= spread, for Y inverts the middle
        to = half - dot(Y[i], at)
        if to + reach < 0 or to - reach > 1:
            return -1
        inside = inside and reach < to < 1 - reach
    return int(inside)


def slope(table: Any, axis: int) -> Any:
    """Return bounds of a partial derivative over the box [0, 1]^2."""
    rows = table if axis == 0 else flip(table)
    steps = [(len(rows) - 1) * (y - x) for a, b in pairwise(rows) for x, y in zip(a, b, strict=True)]
    return Fraction(min(steps, default=0)), Fraction(max(steps, default=0))


def centre(table: Any) -> Any:
    """Return the value in the middle of the box."""
    m, n = len(table) - 1, len(table[0]) - 1
    total = sum(comb(m, i) * comb(n, j) * x for i, row in enumerate(table) for j, x in enumerate(row))
    return Fraction(total, 2 ** (m + n))


def solve(rows: Any) -> Any:
    """Return X of A X = B for rows [A | B]; A must be regular."""
    n = len(rows)
    for j in range(n):
        pivot = next((i for i in range(j, n) if rows[i][j]), None)
        demand(pivot is not None, "has sticking contacts with reactions that are not unique")
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [x / rows[j][j] for x in rows[j]]
        rows = [
            row if i == j else [x - row[j] * y for x, y in zip(row, rows[j], strict=True)] for i, row in enumerate(rows)
        ]
    return [row[n:] for row in rows]


KINDS: dict[str, Any] = {**checker_spatial.KINDS, "spatial_contacts": contacts}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
