"""Checks certificates of more kinds: python checker_blocks.py CERTIFICATE.json ...  (with checker.py beside it)

Adds to `checker` problems of blocks, empty linear systems and strictly feasible motions. Standard library only;
docs/certificates.md states what is checked.
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from . import checker
    from .checker import demand, exact
else:
    import checker
    from checker import demand, exact


def verdict(read: Any, kinds: Any = None) -> str:
    """Return "VALID: claim", "INVALID: place why" or "UNKNOWN: kind" for the JSON text that `read` returns."""
    return checker.verdict(read, kinds or KINDS)


def main(paths: list[str], kinds: Any = None) -> int:
    """Print the verdict of every file; return 0 if all are valid, 1 if one is invalid, 2 if one is none of theirs."""
    return checker.main(paths, kinds or KINDS)


def blocks(problem: Any, leaves: Any, at: list[str]) -> str:
    """u = W f + q with equalities, unilateral rows, planar contacts and rows with dry friction; variables u, f."""
    W, q = exact([problem["W"], problem["q"]])
    modes, u, n = [], 0, len(q)
    for law in problem["blocks"]:
        demand(law["law"] in LAWS, "has no such law")
        size, rows = LAWS[law["law"]]
        modes.append(rows(u, n + u, law))
        u += size
    demand(u == n, "has not one block per row")
    system = [[*row, end] for row, end in zip(W, q, strict=True)]
    return checker.prove(system, 0, range(n, 2 * n), modes, leaves, at, "motion")


def equality(u: int, _f: int, _law: Any) -> Any:
    """Return the row of the one mode of u = 0, f free."""
    return {"E": [("=", {u: 1})], "*": [("=", {u: 1})]}


def unilateral(u: int, f: int, _law: Any) -> Any:
    """Return the rows of every mode of 0 <= u, f, u f = 0."""
    touch, open_ = [("=", {u: 1}), ("≥", {f: 1})], [("=", {f: 1}), (">", {u: 1})]
    return {"D": open_, "L": touch, "*": [("≥", {f: 1}), ("≥", {u: 1})]}


def contact(u: int, f: int, law: Any) -> Any:
    """Return the rows of every mode of a planar contact."""
    return checker.contact(u, f, law["bilateral"], *exact([law["mu"], law["mu_s"], law["state"]]))


def dry(u: int, f: int, law: Any) -> Any:
    """Return the rows of every mode of |f| <= c against the slip u, |f| <= c_s at rest."""
    c, c_s = exact([law["c"], law["c_s"]])
    demand(0 <= c <= c_s, "has no law of friction")
    cone = [("≥", {f: -1, -1: c_s}), ("≥", {f: 1, -1: c_s})]
    slips = {letter: [("=", {f: 1, -1: s * c}), (">", {u: s})] for letter, s in (("+", 1), ("-", -1))}
    return {"S": [("=", {u: 1}), *cone], "*": cone, **slips}


def farkas(problem: Any, leaves: Any, at: list[str]) -> str:
    """Check a Farkas vector for A x = b, C x >= d."""
    at[0], (leaf,) = "leaf *", leaves
    A, b, C, d, y = exact([*(problem[key] for key in "AbCd"), leaf["refutation"]])
    width = {len(row) for row in A + C}
    demand(leaf["mode"] == "*" and len(width) == 1 and (len(A), len(C)) == (len(b), len(d)), "does not fit the problem")
    demand(all(x >= 0 for x in y[len(b) :]), "has a negative multiplier of an inequality")
    signed = y[: len(b)] + [-x for x in y[len(b) :]]
    demand(not any(dot(signed, column) for column in zip(*A, *C, strict=True)), "has multipliers that do not cancel")
    demand(dot(signed, b + d) < 0, "has multipliers without a contradiction")
    return "INFEASIBLE: no x satisfies A x = b and C x >= d"


def slater(problem: Any, leaves: Any, at: list[str]) -> str:
    """Check a motion strictly inside the dual friction cones: G v = b and mu |u_t| < u_n with u = J v + w."""
    at[0], (leaf,) = "leaf *", leaves
    M, J, w, G, b, mu, v = exact([*(problem[key] for key in ("M", "J", "w", "G", "b", "mu")), leaf["witness"]])
    sizes = problem["sizes"]
    demand([list(column) for column in zip(*M, strict=True)] == M and positive(M), "has no symmetric M > 0")
    demand(leaf["mode"] == "*" and len(M) == len(v) and sum(sizes) == len(w), "does not fit the problem")
    demand(all(dot(row, v) == x for row, x in zip(G, b, strict=True)), "has a motion that leaves the bilateral rows")
    u = [dot(row, v) + x for row, x in zip(J, w, strict=True)]
    for size, friction in zip(sizes, mu, strict=True):
        (normal, *slip), u = u[:size], u[size:]
        inside = normal > 0 and friction >= 0 and normal**2 > friction**2 * dot(slip, slip)
        demand(inside and size > 0, "has a motion that is not strictly inside")
    return "EXISTS: a motion strictly inside all cones proves that the velocity problem has a solution"


def dot(a: Any, b: Any) -> Any:
    """Return the scalar product."""
    return sum(x * y for x, y in zip(a, b, strict=True) if x and y)


def positive(M: Any) -> bool:
    """Whether all pivots of a symmetric matrix are positive."""
    while M and M[0][0] > 0:
        top, *rows = M
        M = [[x - row[0] / top[0] * y for x, y in zip(row[1:], top[1:], strict=True)] for row in rows]
    return not M


LAWS = {"equality": (1, equality), "unilateral": (1, unilateral), "dry": (1, dry), "contact": (2, contact)}
KINDS: dict[str, Any] = {**checker.KINDS, "blocks": blocks, "farkas": farkas, "slater": slater}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
