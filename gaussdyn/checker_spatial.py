"""Checks certificates of contacts in space too: python checker_spatial.py CERTIFICATE.json ...

Needs checker.py and checker_blocks.py beside it and nothing else. One contact with rows (n, t1, t2), u = W r + q: it
detaches, rests (|r_t| <= mu_s r_n), or slips along e with r = N (1, -mu e), u = (0, s e), s > 0. Slip directions are
roots of a polynomial in t = tan(angle / 2), counted by Sturm's theorem under the signs of N and s (Tarski).
A polynomial is a list of coefficients, the constant first. docs/certificates.md states what is checked.
"""

import sys
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from . import checker_blocks
    from .checker import demand, exact
    from .checker_blocks import dot
else:
    import checker_blocks
    from checker import demand, exact
    from checker_blocks import dot

INFINITY = float("inf")
COSINE, SINE, D = [1, 0, -1], [0, 2], [1, 0, 1]  # e = (COSINE, SINE) / D


def verdict(read: Any) -> str:
    """Return "VALID: claim", "INVALID: place why" or "UNKNOWN: kind" for the JSON text that `read` returns."""
    return checker_blocks.verdict(read, KINDS)


def main(paths: list[str]) -> int:
    """Print the verdict of every file; return 0 if all are valid, 1 if one is invalid, 2 if one is none of theirs."""
    return checker_blocks.main(paths, KINDS)


def body(problem: Any, leaves: Any, at: list[str]) -> str:
    """A body on the point r from its centre of mass, third axis up: m w = F_star + B R, B = 1 - m [r] J^-1 [r]."""
    m, J, r, F, mu, mu_s = exact([problem[key] for key in ("m", "J", "r", "F_star", "mu", "mu_s")])
    x, y, z = r
    demand(m > 0 and [list(c) for c in zip(*J, strict=True)] == J and len(J) == 3, "has no mass or symmetric inertia")
    demand(checker_blocks.positive(J), "has an inertia that is not positive definite")
    arms = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    turned = [solve(J, column) for column in zip(*arms, strict=True)]  # columns of J^-1 [r]
    order = (2, 0, 1)
    W = [[int(i == j) / m - dot(arms[i], turned[j]) for j in order] for i in order]
    return contact(W, [F[i] / m for i in order], mu, mu_s, problem["slip"], leaves, at, "acceleration")


def local(problem: Any, leaves: Any, at: list[str]) -> str:
    """u = W r + q."""
    W, q, mu, mu_s = exact([problem[key] for key in ("W", "q", "mu", "mu_s")])
    return contact(W, q, mu, mu_s, problem["slip"], leaves, at, "motion")


def contact(W: Any, q: Any, mu: Any, mu_s: Any, slip: Any, leaves: Any, at: list[str], noun: str) -> str:
    """Check all leaves and count the motions."""
    demand([len(row) for row in [*W, q]] == [3] * 4 and 0 <= mu <= mu_s, "has no contact in space")
    modes = [leaf["mode"] for leaf in leaves]
    at[0] = "leaf D"
    (first,) = [leaf for leaf in leaves if leaf["mode"] == "D"]
    demand(("witness" in first) == (q[0] > 0), "is the wrong way round")
    demand("witness" not in first or exact(first["witness"]) == q, "has another motion than q")
    found = int(q[0] > 0)
    if slip is None:
        demand({*modes} == {"D", "S", "+"}, "has leaves that leave modes out")
        at[0] = "leaf S"
        found += rests(W, q, mu_s, *[leaf for leaf in leaves if leaf["mode"] == "S"])
        at[0] = "leaf +"
        more = slips(W, q, mu, [leaf for leaf in leaves if leaf["mode"] == "+"])
    else:
        at[0] = "leaf L"
        (last,) = [leaf for leaf in leaves if leaf["mode"] != "D"]
        demand(last["mode"] == "L", "has leaves that leave modes out")
        more = slide(W, q, mu, exact(slip))
        demand(last["slides"] == more, f"has another number than {more}")
    found += more
    one = f"UNIQUE: exactly one {noun} solves the problem"
    said = ["NONE: no mode has a solution", one, f"MULTIPLE: exactly {found} values of {noun} solve the problem"]
    return f"CONTINUUM: the solutions fill a continuum of {noun}" if more < 0 else said[min(found, 2)]


def rests(W: Any, q: Any, mu: Any, leaf: Any) -> bool:
    """Check r of the friction cone with W r = -q, or y with W^T y in the dual cone and y.q > 0."""
    demand(("witness" in leaf) != ("refutation" in leaf), "has not either a witness or a refutation")
    if "witness" in leaf:
        r = exact(leaf["witness"])
        demand(not any(dot(row, r) + x for row, x in zip(W, q, strict=True)), "has a reaction that leaves a motion")
        demand(r[0] >= 0 and r[1] ** 2 + r[2] ** 2 <= (mu * r[0]) ** 2, "has a reaction outside the friction cone")
        return True
    y = exact(leaf["refutation"])
    k = [dot(column, y) for column in zip(*W, strict=True)]
    demand(k[0] >= 0 and mu**2 * (k[1] ** 2 + k[2] ** 2) <= k[0] ** 2, "has multipliers outside the dual cone")
    demand(dot(y, q) > 0, "has multipliers without a contradiction")
    return False


def slide(W: Any, q: Any, mu: Any, slip: Any) -> int:
    """Return the number of accelerations that slide on, N >= 0 and q_n + N (W_nn - mu W_nt.e) = 0; -1: all N."""
    square = dot(slip, slip)
    demand(len(slip) == 2 and square > 0, "has no direction of slip")
    a = sign_of_root(W[0][0], -mu * dot(W[0][1:], slip), square)
    if a or q[0]:
        return int(a * q[0] < 0 or (q[0] == 0 and a != 0))
    pushed = [sign_of_root(row[0], -mu * dot(row[1:], slip), square) for row in W[1:]]
    return -1 if any(pushed) else 1


def sign_of_root(x: Any, y: Any, square: Any) -> int:
    """Return the sign of x + y / sqrt(square)."""
    z = x * abs(x) * square + y * abs(y)
    return int(z > 0) - int(z < 0)


def slips(W: Any, q: Any, mu: Any, leaves: Any) -> int:
    """Check how many slips every sector of directions holds; return their number, -1 for a continuum."""
    f, g, h, even = equation(W, q, mu)
    ends = [coefficient(p, degree) for p, degree in zip((f, g, h), even, strict=True)]  # the direction (-1, 0)
    far = int(ends[0] == 0 < min(ends[1:]))
    if not f:
        return continuum(g, h, even, ends, leaves)
    grazing = [leaf for leaf in leaves if "witness" in leaf]
    demand(len(grazing) == int(q[0] == 0 and any(q)), "has not the motion without reaction")
    demand(all(exact(leaf["witness"]) == q for leaf in grazing), "has another motion than q")
    *sectors, last = [leaf for leaf in leaves if "witness" not in leaf]
    demand(last == {"mode": "+", "sector": ["inf", "inf"], "slips": far}, "has a wrong count in the direction (-1, 0)")
    return len(grazing) + far + within(f, [g, h], sectors)


def within(f: Any, positive: Any, sectors: Any) -> int:
    """Check that sectors leave no direction out, and how many slips each holds; return their number."""
    borders = ["-inf", *[leaf["sector"][1] for leaf in sectors]]
    demand(borders[-1] == "inf" and [leaf["sector"] for leaf in sectors] == [list(x) for x in pairwise(borders)],
           "has sectors that leave directions out")  # fmt: skip
    places = [-INFINITY, *exact(borders[1:-1]), INFINITY]
    demand(all(a < b for a, b in pairwise(places)), "has sectors in disorder")
    demand(all(sign(f, x) for x in places[1:-1]), "has a sector that ends in a direction of slip")
    for leaf, low, high in zip(sectors, places, places[1:], strict=False):
        right = leaf["slips"] == count(f, positive, low, high)
        demand(right, f"has a wrong count between {low!s:.20} and {high!s:.20}")
    return sum(int(leaf["slips"]) for leaf in sectors)


def equation(W: Any, q: Any, mu: Any) -> Any:
    """Return f, g, h and their even degrees: slips with N > 0 are the roots of f where g > 0 (N) and h > 0 (s)."""
    A, *C = [plus(times(row[0], D), times(-mu * row[1], COSINE), times(-mu * row[2], SINE)) for row in W]
    if q[0]:  # N = -q_n D / A
        x, y = [plus(times(p, A), times(-q[0], c)) for p, c in zip(q[1:], C, strict=True)]
        f, speed = cross(COSINE, SINE, x, y), plus(times(COSINE, x), times(SINE, y))
        return f, times(-q[0], A), times(-q[0], speed), (4, 2, 4)
    side, friction = cross(COSINE, SINE, [q[1]], [q[2]]), cross(COSINE, SINE, *C)  # A = 0, N = -D side / friction
    bad = gcd(A, gcd(side, friction))
    ends = any(coefficient(p, n) for p, n in ((A, 2), (side, 2), (friction, 4)))
    demand(A and ends and not count(bad, [], -INFINITY, INFINITY), "has a direction that any normal reaction goes with")
    return A, times(-1, side, friction), times(cross([q[1]], [q[2]], *C), friction), (2, 6, 6)


def continuum(g: Any, h: Any, even: Any, ends: Any, leaves: Any) -> int:
    """Return -1 if every direction of some arc is a slip, 0 if none is: f vanishes everywhere."""
    both, half = times(g, h), (even[1] + even[2]) // 2
    turning = plus(times(derivative(both), D), times([0, -2 * half], both))  # zero somewhere on every arc
    inside = g and h and (min(ends[1:]) > 0 or (turning and count(turning, [g, h], -INFINITY, INFINITY)))
    found = -1 if inside or (not turning and sign(g, 0) > 0 and sign(h, 0) > 0) else 0
    demand(leaves == [{"mode": "+", "slips": found}], "has not one leaf for all directions, or a wrong one")
    return found


def count(f: Any, positive: Any, low: Any, high: Any) -> int:
    """Return the number of distinct roots of f between low and high where all polynomials of `positive` are > 0."""
    total = 0
    for powers in product((1, 2), repeat=len(positive)):
        chain = [
            f,
            rest(times(derivative(f), *[p for p, n in zip(positive, powers, strict=True) for _ in range(n)]), f),
        ]
        while chain[-1]:
            chain.append(times(-1, rest(chain[-2], chain[-1])))
        variations = [[s for p in chain if (s := sign(p, x))] for x in (low, high)]
        before, after = (sum(a != b for a, b in pairwise(signs)) for signs in variations)
        total += before - after
    return total >> len(positive)


def sign(p: Any, x: Any) -> int:
    """Return the sign of p(x), at infinity of its leading term."""
    if x in (INFINITY, -INFINITY):
        y = p[-1] * (1 if x > 0 or len(p) % 2 else -1) if p else 0
    else:
        y = sum(a * x**i for i, a in enumerate(p))
    return int(y > 0) - int(y < 0)


def plus(*terms: Any) -> Any:
    """Return the sum of polynomials, without zeros at its end."""
    p = [sum(coefficient(term, i) for term in terms) for i in range(max(map(len, terms)))]
    return p[: max((i + 1 for i, x in enumerate(p) if x), default=0)]


def times(*factors: Any) -> Any:
    """Return the product of polynomials and numbers."""
    found = [Fraction(1)]
    for factor in factors:
        p = factor if isinstance(factor, list) else [factor]
        found = plus([], *([0] * i + [x * y for y in p] for i, x in enumerate(found)))
    return found


def cross(a: Any, b: Any, x: Any, y: Any) -> Any:
    """Return a y - b x."""
    return plus(times(a, y), times(-1, b, x))


def rest(p: Any, f: Any) -> Any:
    """Return p modulo f."""
    while len(p) >= len(f):
        p = plus(p, times([0] * (len(p) - len(f)) + [-Fraction(p[-1]) / f[-1]], f))
    return p


def gcd(p: Any, f: Any) -> Any:
    """Return the greatest common divisor."""
    return gcd(f, rest(p, f)) if f else p


def derivative(p: Any) -> Any:
    """Return p'."""
    return [i * x for i, x in enumerate(p)][1:]


def coefficient(p: Any, i: int) -> Any:
    """Return the coefficient of t^i."""
    return p[i] if i < len(p) else 0


def solve(M: Any, b: Any) -> Any:
    """Return M^-1 b for a positive definite M."""
    if not M:
        return []
    (top, *row), *rows = M
    less = [[x - line[0] / top * y for x, y in zip(line[1:], row, strict=True)] for line in rows]
    x = solve(less, [y - line[0] / top * b[0] for y, line in zip(b[1:], rows, strict=True)])
    return [(b[0] - dot(row, x)) / top, *x]


KINDS: dict[str, Any] = {**checker_blocks.KINDS, "spatial_body": body, "spatial_contact": local}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
