"""Checks certificates of a few contacts in space at rest, u = W r + q: python checker_spatial_several.py FILE ...

Standard library and the other checkers beside it. Every contact detaches (D), sticks (S) or slips (+) in a direction; a
tree cuts the contacts into these modes and the directions into sectors. A leaf is empty because multipliers of its
linear conditions show it, or the equations of its mode have one solution, exactly or by Krawczyk's operator. Without a
tree, a curve of solutions.
Directions are e = (+-(1 - t^2), +-2 t) / (1 + t^2), turned by TILT. docs/certificates.md says what a file holds.
"""

import sys
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from . import checker_blocks, checker_slips, checker_spatial
    from .checker import demand, exact
    from .checker_blocks import dot
else:
    import checker_blocks
    import checker_slips
    import checker_spatial
    from checker import demand, exact
    from checker_blocks import dot

ROOT = [(sign, Fraction(a), Fraction(a + 1)) for sign in (1, -1) for a in (-1, 0)]  # quarters of a turn
SIDES = 16  # of the polygon around a friction cone
EQUAL, AT_LEAST, ABOVE = range(3)
CONTINUUM = "CONTINUUM: the solutions fill a continuum of motion"


def verdict(read: Any) -> str:
    """Return "VALID: claim", "INVALID: place why" or "UNKNOWN: kind" for the JSON text that `read` returns."""
    return checker_blocks.verdict(read, KINDS)


def main(paths: list[str]) -> int:
    """Print the verdict of every file; return 0 if all are valid, 1 if one is invalid, 2 if one is none of theirs."""
    return checker_blocks.main(paths, KINDS)


def contacts(problem: Any, leaves: Any, at: list[str]) -> str:
    """Follow the tree of modes and sectors and count the motions."""
    W, q, mu, mu_s = data = exact([problem[key] for key in ("W", "q", "mu", "mu_s")])
    demand([len(row) for row in [*W, q]] == [3 * len(mu)] * (3 * len(mu) + 1), "has not three rows a contact")
    demand(mu and all(0 < m <= s for m, s in zip(mu, mu_s, strict=True)), "has no friction")
    if len(leaves) == 1 and "fixed" in leaves[0]:  # a curve of motions says all: there is no tree
        at[0], (leaf,) = f"leaf {leaves[0]['mode']}", leaves
        demand(curve(data, read(leaf["states"]), leaf), "shows no curve of motions")
        return CONTINUUM
    queue = iter(leaves)
    found = counted(data, ["*"] * len(mu), 0, next(queue, None), queue, at)
    demand(next(queue, None) is None, "has more leaves than the tree")
    return claim(found)


def claim(found: int) -> str:
    """Return the claim of so many motions."""
    one = "UNIQUE: exactly one motion solves the problem"
    said = ["NONE: no mode has a solution", one, f"MULTIPLE: exactly {found} values of motion solve the problem"]
    return said[min(found, 2)]


def counted(data: Any, states: Any, depth: int, leaf: Any, queue: Any, at: list[str]) -> int:
    """Return the number of motions below a node; `leaf` is the next one."""
    demand(leaf is not None, "has fewer leaves than the tree")
    if leaf["depth"] > depth:
        first, *others = split(states)
        found = counted(data, first, depth + 1, leaf, queue, at)
        return found + sum(counted(data, other, depth + 1, next(queue, None), queue, at) for other in others)
    at[0] = f"leaf {letters(states)}"
    demand(leaf["depth"] == depth and leaf["mode"] == letters(states), "is not where the tree has it")
    if "rows" in leaf:
        rows = [row for row, _ in conditions(data, states, leaf.get("sides", SIDES))]
        kinds = [kind for _, kind in conditions(data, states, leaf.get("sides", SIDES))]
        lam = exact(leaf["multipliers"]) if "multipliers" in leaf else None
        demand(refuted(rows, kinds, leaf["rows"], lam), "has multipliers without a contradiction")
        return 0
    found = motions(data, states, exact(leaf.get("witness", [])))
    demand(found is not checker_slips.UNPROVED, "is not decided")
    return int(found)


def read(states: Any) -> Any:
    """Return the states of a file: letters, and sectors [sign, a, b]."""
    return [x if isinstance(x, str) else (x[0], *exact(x[1:])) for x in states]


def letters(states: Any) -> str:
    """Return the letters of the contacts."""
    return "".join(x if isinstance(x, str) else "+" for x in states)


def split(states: Any) -> Any:
    """Return the children: the modes of the first contact without one, else the halves of the widest sector."""
    if "*" in states:
        k, parts = states.index("*"), ["D", "S", *ROOT]
    else:
        widths = [0 if isinstance(x, str) else x[2] - x[1] for x in states]
        k = widths.index(max(widths))
        sign, a, b = states[k]
        parts = [(sign, a, (a + b) / 2), (sign, (a + b) / 2, b)]
    return [[*states[:k], part, *states[k + 1 :]] for part in parts]


def direction(sign: int, t: Any) -> Any:
    """Return the direction of a half-angle tangent in a chart, of length one."""
    c, s = sign * (1 - t * t) / (1 + t * t), sign * 2 * t / (1 + t * t)
    cosine, sine = checker_slips.TURN
    return cosine * c - sine * s, sine * c + cosine * s


def conditions(data: Any, states: Any, sides: int = SIDES) -> Any:
    """Yield (row, kind): every motion of the states obeys A r = b, A r >= b or A r > b with row = [A | b]."""
    for k, state in enumerate(states):
        yield from of_contact(data, k, state, sides)


def of_contact(data: Any, k: int, state: Any, sides: int = SIDES) -> Any:
    """Yield the conditions of one contact."""
    W, q, mu, mu_s = data
    n, x, y = ([*W[i], -q[i]] for i in range(3 * k, 3 * k + 3))

    def force(*parts: Any) -> Any:
        return [Fraction(0)] * 3 * k + list(parts) + [Fraction(0)] * (len(q) - 3 * k - 2)

    if state == "D":
        yield from ((force(*(Fraction(i == j) for j in range(3))), EQUAL) for i in range(3))
        yield n, ABOVE
    elif isinstance(state, str):
        yield n, (EQUAL if state == "S" else AT_LEAST)
        yield from ((row, EQUAL) for row in (x, y) if state == "S")
        for sign in (1, -1):
            for j in range(sides // 2):
                c, s = direction(sign, Fraction(4 * j, sides) - 1)
                yield force(mu_s[k], -c, -s), AT_LEAST
    else:
        yield n, EQUAL
        yield from slipping(x, y, mu[k], force, state)


def slipping(x: Any, y: Any, mu: Any, force: Any, sector: Any) -> Any:
    """Yield the conditions of a slip in a sector: speed and friction along it, friction between chord and tangents."""
    sign, a, b = sector
    low, middle, high = (direction(sign, t) for t in (a, (a + b) / 2, b))
    along = low[0] + high[0], low[1] + high[1]
    yield [along[0] * p + along[1] * s for p, s in zip(x, y, strict=True)], ABOVE
    for c, s in ((-low[1], low[0]), (high[1], -high[0])):
        yield [c * p + s * z for p, z in zip(x, y, strict=True)], AT_LEAST
        yield force(Fraction(0), -c, -s), AT_LEAST
    yield from ((force(mu, c, s), AT_LEAST) for c, s in (low, middle, high))  # -r_t.e <= mu N
    yield force(-mu * (1 + low[0] * high[0] + low[1] * high[1]), -along[0], -along[1]), AT_LEAST


def refuted(rows: Any, kinds: Any, chosen: Any, lam: Any = None) -> bool:
    """Return whether multipliers of the chosen rows cancel A and contradict them (Farkas, Motzkin).

    Without `lam` they are the only ones that cancel the chosen rows as coprime integers, up to a factor.
    """
    part = [integers(rows[i]) for i in chosen]
    lam = cancelling(part) if lam is None else lam
    columns = [*zip(*part, strict=True)][:-1]
    if lam is None or any(dot(lam, column) for column in columns):
        return False
    value, kinds = sum(a * row[-1] for a, row in zip(lam, part, strict=True)), [kinds[i] for i in chosen]
    return contradicts(lam, value, kinds) or contradicts([-a for a in lam], -value, kinds)


def contradicts(lam: Any, value: Any, kinds: Any) -> bool:
    """Return whether 0 = value, >= value or > value, the sum of rows of these kinds times lam, is wrong and follows."""
    least = min((a for a, kind in zip(lam, kinds, strict=True) if kind != EQUAL), default=0)
    strict = any(a > 0 and kind == ABOVE for a, kind in zip(lam, kinds, strict=True))
    return least >= 0 and (value > 0 or (value == 0 and strict))


def integers(row: Any) -> Any:
    """Return a positive multiple of a row in coprime integers."""
    scale = lcm(*(x.denominator for x in row))
    whole = [x.numerator * (scale // x.denominator) for x in row]
    common = gcd(*whole) or 1
    return [x // common for x in whole]


def cancelling(rows: Any) -> Any:
    """Return integers lam with sum lam A = 0 for integer rows [A | b]; None unless there is one, up to a factor."""
    left = [[*row[:-1], *(int(i == j) for j in range(len(rows)))] for i, row in enumerate(rows)]
    width = len(rows[0]) - 1 if rows else 0
    for j in range(width):
        pivot = min((row for row in left if row[j]), key=lambda row: abs(row[j]), default=None)
        if pivot is not None:
            left = [cleared(row, pivot, j) for row in left if row is not pivot]
    return left[0][width:] if len(left) == 1 else None


def cleared(row: Any, pivot: Any, j: int) -> Any:
    """Return a multiple of a row minus one of the pivot, with 0 in column j."""
    if not row[j]:
        return row
    a, b = pivot[j], row[j]
    new = [a * x - b * y for x, y in zip(row, pivot, strict=True)]
    common = gcd(*new) or 1
    return [x // common for x in new]


def motions(data: Any, states: Any, witness: Any) -> Any:
    """Return how many motions a leaf has, 0 or 1, or checker_slips.UNPROVED."""
    if "*" in states:
        return checker_slips.UNPROVED
    held = held_rows(states)
    if all(isinstance(state, str) for state in states):
        return resting(data, states, held, witness)
    return checker_slips.motions(data, states, held)


def held_rows(states: Any) -> Any:
    """Return the rows of u that are zero: all of a sticking contact, the normal one of a slipping one."""
    return [3 * k + i for k, x in enumerate(states) if x != "D" for i in range(3 if x == "S" else 1)]


def resting(data: Any, states: Any, held: Any, r: Any) -> Any:
    """Return whether sticking and detaching are a motion; `r` are its reactions where they are not unique."""
    W, q, _, mu_s = data
    if not r:
        r = only_reactions(W, q, held)
    elif not alone(W, held):
        r = None
    if r is None:
        return checker_slips.UNPROVED
    u = [dot(row, r) + end for row, end in zip(W, q, strict=True)]
    free = [r[i] for i in range(len(q)) if i not in held]
    demand(not any(free) and not any(u[i] for i in held), "has reactions of another mode")
    signs = [u[3 * k] if x == "D" else margin(r[3 * k : 3 * k + 3], mu_s[k]) for k, x in enumerate(states)]
    return checker_slips.UNPROVED if min(signs) == 0 else int(min(signs) > 0)


def only_reactions(W: Any, q: Any, held: Any) -> Any:
    """Return the reactions that hold these rows, None where they are not unique."""
    try:
        part = solve([[*(W[i][j] for j in held), -q[i]] for i in held])
    except ValueError:
        return None
    r = [Fraction(0)] * len(q)
    for i, x in zip(held, part, strict=True):
        r[i] = x[0]
    return r


def alone(W: Any, held: Any) -> bool:
    """Return whether what is free in reactions that hold these rows moves nothing else."""
    rows = [integers([W[i][j] for j in held]) for i in held]
    every = [integers([row[j] for j in held]) for row in W]
    return rank(rows) == rank(every)


def rank(rows: Any) -> int:
    """Return the rank of integer rows."""
    found = 0
    for j in range(len(rows[0]) if rows else 0):
        pivot = min((row for row in rows if row[j]), key=lambda row: abs(row[j]), default=None)
        if pivot is not None:
            rows, found = [cleared(row, pivot, j) for row in rows if row is not pivot], found + 1
    return found


def margin(r: Any, mu: Any) -> Any:
    """Return a number > 0 inside the friction cone, 0 on its border, < 0 outside."""
    return min(r[0], (mu * r[0]) ** 2 - r[1] ** 2 - r[2] ** 2) if r[0] else -abs(r[1]) - abs(r[2])


def curve(data: Any, states: Any, leaf: Any) -> bool:
    """Return whether motions that differ belong to the values that the normal force of one slipping contact may take.

    The row `dropped` of u = 0 follows from the others, so that there is one equation less than unknowns.
    """
    W, q, *_ = data
    held, fixed, dropped = held_rows(states), leaf["fixed"], leaf["dropped"]
    demand(dropped in held and 0 <= fixed < len(states) and not isinstance(states[fixed], str), "has no such rows")
    rows = [integers([*W[i], q[i]]) for i in held]
    fewer = [row for i, row in zip(held, rows, strict=True) if i != dropped]
    demand(rank(fewer) == rank(rows), "drops a row that does not follow from the others")
    ends = exact(leaf["values"])
    return checker_slips.differ(data, states, [i for i in held if i != dropped], fixed, ends, exact(leaf["box"]))


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
