"""Checks a certificate from its own data alone. Standard library only: python checker.py CERTIFICATE.json

The first part checks linear complementarity problems and planar bodies; the second adds problems of blocks, empty
linear systems and strictly feasible motions. docs/certificates.md states what is checked.
"""

import hashlib
import json
import re
import sys
from fractions import Fraction
from typing import Any


class Invalid(Exception):
    """The certificate proves nothing: which leaf, and why."""


def demand(condition: Any, why: str) -> None:
    """Raise Invalid(why) unless the condition holds."""
    if not condition:
        raise Invalid(why)


def check(document: Any) -> str:
    """Return the claim in words, or raise Invalid("<leaf> <why>")."""
    at = ["document"]
    try:
        body = {key: value for key, value in document.items() if key != "sha256"}
        data = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()
        demand(document["sha256"] == hashlib.sha256(data).hexdigest(), "has another hash than it says")
        claim: str = KINDS[document["kind"]](document["problem"], document["leaves"], at)
        at[0] = "document"
        demand(document["claim"] == claim, f"proves something else than its claim: {claim}")
        return claim
    except Invalid as error:
        raise Invalid(f"{at[0]} {error}") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise Invalid(f"{at[0]} is malformed ({type(error).__name__}: {error!s:.60})") from None


def solutions(W: Any, q: Any, blocks: Any, leaves: Any, at: list[str], noun: str) -> str:
    """Check that every mode of u = W f + q is solved or refuted, and count the solutions by their first variables."""
    n, (u, f) = len(q), (len(q), 0) if noun == "z" else (0, len(q))
    newton = [place([1, *(-x for x in W[i]), q[i]], [u + i, *range(f, f + n)], 2 * n) for i in range(n)]
    partition([leaf["mode"] for leaf in leaves], [set(modes) - {"*"} for _, modes in blocks])
    points = set()
    for leaf in leaves:
        rows: Any = (newton[:], [], [])
        at[0], k = f"leaf {leaf['mode']}", 0
        for (size, modes), letter in zip(blocks, leaf["mode"], strict=True):
            where = [start + k + i for start in (u, f) for i in range(size)]
            for kept, new in zip(rows, modes[letter], strict=True):
                kept += [place(row, where, 2 * n) for row in new]
            k += size
        points.add(solution(leaf, n, *rows))
    if "many" in points:
        return f"CONTINUUM: the solutions fill a continuum of {noun}"
    count = len(points - {None})
    several = f"MULTIPLE: exactly {count} values of {noun} solve the problem"
    return ("NONE: no mode has a solution", f"UNIQUE: exactly one {noun} solves the problem", several)[min(count, 2)]


def solution(leaf: Any, n: int, E: Any, G: Any, S: Any) -> Any:
    """Return None for a refuted leaf, "many" for a ray, else the one value of the first n variables."""
    demand(("witness" in leaf) != ("refutation" in leaf), "has not either a witness or a refutation")
    if "refutation" in leaf:
        value, strictly = combine(leaf["refutation"], E, G, S)
        demand(value < 0 or (value == 0 and strictly), "has multipliers without a contradiction")
        return None
    x, fixed = obeys(vector(leaf["witness"], 2 * n), E, G, S), [row[:-1] for row in E]
    demand(leaf["rank"] == rank(fixed), "has another rank than it says")
    if "ray" in leaf:
        end = obeys([a + b for a, b in zip(x, vector(leaf["ray"], 2 * n), strict=True)], E, G, S)
        demand(end[:n] != x[:n], "has a ray that leaves the solution where it is")
        return "many"
    if "implied" in leaf:
        demand(combine(leaf["implied"], E, G, S) == (Fraction(0), False), "has implied equalities without proof")
        fixed += [row[:-1] for row, z in zip(G, vector(leaf["implied"])[len(E) :], strict=False) if z]
    demand(rank(fixed + [place([1, 0], [i], 2 * n)[:-1] for i in range(n)]) == rank(fixed), "shows no single point")
    return tuple(x[:n])


def lcp(problem: Any, leaves: Any, at: list[str]) -> str:
    """0 <= z, w = M z + q >= 0, z w = 0."""
    q = vector(problem["q"])
    return solutions(table(problem["M"], len(q), len(q)), q, [(1, unilateral("01"))] * len(q), leaves, at, "z")


def unilateral(letters: str) -> Any:
    """Return equalities, >= rows and > rows of every mode of 0 <= u, f, u f = 0: rows on (u, f | bound)."""
    u, f = [1, 0, 0], [0, 1, 0]
    return {letters[0]: ([f], [], [u]), letters[1]: ([u], [f], []), "*": ([], [f, u], [])}


def planar(problem: Any, leaves: Any, at: list[str]) -> str:
    """A rigid body in the plane: a = G r + b at its contacts, n into the body, t = (n_y, -n_x)."""
    points, (m, J), force = table(problem["points"], -1, 2), vector([problem["m"], problem["J"]]), problem["force"]
    normals, drift = table(problem["normals"], len(points), 2), table(problem["drift"], len(points), 2)
    demand(m > 0 and J > 0 and all(map(any, normals)), "has a mass, inertia or normal that is none")
    rows = [
        [ex, ey, x * ey - y * ex]
        for (x, y), (a, b) in zip(points, normals, strict=True)
        for ex, ey in ((a, b), (b, -a))
    ]
    light = [[x / m, y / m, angle / J] for x, y, angle in rows]
    G = [[dot(row, other) for other in rows] for row in light]
    b = [dot(row, vector(force, 3)) + d for row, d in zip(light, [x for pair in drift for x in pair], strict=True)]
    mu, mu_s = vector(problem["mu"], len(points)), vector(problem["mu_s"], len(points))
    laws = zip(mu, mu_s, problem["bilateral"], problem["state"], strict=True)
    return solutions(G, b, [(2, contact(*law)) for law in laws], leaves, at, "acceleration")


def contact(mu: Any, mu_s: Any, bilateral: Any, state: Any) -> Any:
    """Return the modes of a planar contact: rows on (a_n, a_t, r_n, r_t | bound)."""
    demand(bilateral in (True, False) and state in (0, 1, -1) and 0 <= mu <= mu_s, "has no law of contact")
    touch: Any = [1, 0, 0, 0, 0]
    modes: Any = {"D": ([[0, 0, 1, 0, 0], [0, 0, 0, 1, 0]], [], [[1, 0, 0, 0, 0]])}
    for side, (slide, stick, *slips) in ((1, list("LS+-")), (-1, list("lspm")))[: 1 + bilateral]:
        load = [0, 0, side, 0, 0]
        least, above = ([load], []) if side > 0 else ([], [load])
        cone = [[0, 0, side * mu_s, -1, 0], [0, 0, side * mu_s, 1, 0]]
        rest: Any = {stick: ([touch, [0, 1, 0, 0, 0]], least + cone, above)}
        for slip, s in zip(slips, (1, -1), strict=True):
            rest[slip] = ([touch, [0, 0, side * s * mu, 1, 0]], least, [*above, [0, s, 0, 0, 0]])
        modes |= {slide: ([touch, [0, 0, side * state * mu, 1, 0]], least, above)} if state else rest
    if bilateral:
        return {**{x: rows for x, rows in modes.items() if x != "D"}, "*": ([touch], [], [])}
    least, cone = [touch, [0, 0, 1, 0, 0]], [[0, 0, mu_s, -1, 0], [0, 0, mu_s, 1, 0]]
    return {**modes, "*": ([[0, 0, state * mu, 1, 0]], least, []) if state else ([], least + cone, [])}


def partition(modes: list[str], letters: list[set[str]]) -> None:
    """Demand that the leaves are the ends of a tree of modes in which nothing is left out."""
    demand(modes and all(len(mode) == len(letters) for mode in modes), "leaves modes out, or has no such blocks")
    if len(modes) > 1 or modes[0].strip("*"):
        b: Any = next((b for b in range(len(letters)) if all(mode[b] != "*" for mode in modes)), None)
        whole = b is not None and {mode[b] for mode in modes} == letters[b]
        demand(whole, "has leaves that do not partition the modes")
        for letter in letters[b]:
            partition([mode[:b] + "*" + mode[b + 1 :] for mode in modes if mode[b] == letter], letters)


def combine(multipliers: Any, E: Any, G: Any, S: Any) -> tuple[Fraction, bool]:
    """Return e.y + g.z + s.t for E x = e, G x <= g, S x < s (>= rows negated), and whether t is not zero."""
    lam = vector(multipliers, len(E) + len(G) + len(S))
    demand(all(x >= 0 for x in lam[len(E) :]), "has a negative multiplier of an inequality")
    rows = [*E, *([-x for x in row] for row in G + S)]
    *sums, value = [
        sum((x * row[j] for x, row in zip(lam, rows, strict=True) if x), Fraction(0)) for j in range(len(rows[0]))
    ]
    demand(not any(sums), "has multipliers that do not cancel")
    return value, any(lam[len(E) + len(G) :])


def obeys(x: list[Fraction], E: Any, G: Any, S: Any) -> list[Fraction]:
    """Return x after demanding that it satisfies all rows."""
    equal, least, above = ([dot(row, x) - row[-1] for row in rows] for rows in (E, G, S))
    demand(not any(equal) and all(a >= 0 for a in least) and all(a > 0 for a in above), "has a point outside its mode")
    return x


def rank(rows: Any) -> int:
    """Return the rank of rows of exact numbers."""
    if not rows:
        return 0
    *left, pivot = rows
    j = next((j for j, x in enumerate(pivot) if x), None)
    if j is None:
        return rank(left)
    return 1 + rank(
        [[a - row[j] / pivot[j] * b for a, b in zip(row, pivot, strict=True)] if row[j] else row for row in left]
    )


def dot(a: Any, b: Any) -> Fraction:
    """Return the scalar product over the shorter length."""
    return sum((Fraction(x * y) for x, y in zip(a, b, strict=False) if x), Fraction(0))


def place(row: Any, where: Any, width: int) -> list[Fraction]:
    """Return the row (bound last) with its coefficients at the given variables."""
    wide = dict(zip(where, row, strict=False))
    return [Fraction(wide.get(j, 0)) for j in range(width)] + [Fraction(row[-1])]


def table(x: Any, rows: int = -1, columns: int = -1) -> list[list[Fraction]]:
    """Return exact numbers row by row."""
    demand(isinstance(x, list) and rows in (-1, len(x)), f"has not {rows} rows where it needs them")
    return [vector(row, columns) for row in x]


def vector(x: Any, size: int = -1) -> list[Fraction]:
    """Return the exact values of a list of "p/q", integers and doubles."""
    demand(isinstance(x, list) and size in (-1, len(x)), f"has no list of {size} numbers but {x!s:.40}")
    for value in x:
        good = isinstance(value, str) and re.fullmatch("[+-]?[0-9]+(/[0-9]*[1-9][0-9]*)?", value)
        demand(good or type(value) in (int, float), f"has no number but {value!s:.40}")
    return [Fraction(value) for value in x]


def main(paths: list[str]) -> int:
    """Print the verdict of every file; 0 if all are valid."""
    said = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                said.append(f"VALID: {check(json.load(file))}")
        except Invalid as error:
            said.append(f"INVALID: {error}")
        except (OSError, ValueError, RecursionError) as error:
            said.append(f"INVALID: document cannot be read ({error})")
        print(said[-1])
    return int(not said or any(line.startswith("INVALID") for line in said))


# Problems of blocks, empty linear systems, strictly feasible motions


def local(problem: Any, leaves: Any, at: list[str]) -> str:
    """u = W f + q with unilateral rows, planar contacts and rows with dry friction."""
    blocks: list[Any] = []
    for law in problem["blocks"]:
        if law["law"] == "contact":
            mu, mu_s = vector([law["mu"], law["mu_s"]])
            blocks.append((2, contact(mu, mu_s, law["bilateral"], law["state"])))
            continue
        c, c_s = vector([law["c"], law["c_s"]]) if law["law"] == "dry" else (Fraction(0), Fraction(0))
        demand(law["law"] in ("unilateral", "dry") and 0 <= c <= c_s, "has no such law")
        cone = [[0, -1, -c_s], [0, 1, -c_s]]
        dry = {"S": ([[1, 0, 0]], cone, []), "+": ([[0, 1, -c]], [], [[1, 0, 0]]), "-": ([[0, 1, c]], [], [[-1, 0, 0]])}
        blocks.append((1, {**dry, "*": ([], cone, [])} if law["law"] == "dry" else unilateral("DL")))
    n = sum(size for size, _ in blocks)
    return solutions(table(problem["W"], n, n), vector(problem["q"], n), blocks, leaves, at, "motion")


def empty(problem: Any, leaves: Any, at: list[str]) -> str:
    """Check a Farkas vector for A x = b, C x >= d."""
    at[0], (leaf,) = "leaf *", leaves
    A, C = table(problem["A"]), table(problem["C"])
    E = [[*row, end] for row, end in zip(A, vector(problem["b"]), strict=True)]
    G = [[*row, end] for row, end in zip(C, vector(problem["d"]), strict=True)]
    demand(leaf["mode"] == "*" and len({len(row) for row in E + G}) == 1, "does not fit the problem")
    demand(combine(leaf["refutation"], E, G, [])[0] < 0, "has multipliers without a contradiction")
    return "INFEASIBLE: no x satisfies A x = b and C x >= d"


def strict(problem: Any, leaves: Any, at: list[str]) -> str:
    """Check a motion strictly inside the dual friction cones: G v = b and mu |u_t| < u_n with u = J v + w."""
    at[0], (leaf,) = "leaf *", leaves
    M, w, b, mu = table(problem["M"]), vector(problem["w"]), vector(problem["b"]), vector(problem["mu"])
    n, sizes = len(M), problem["sizes"]
    v, J, G = vector(leaf["witness"], n), table(problem["J"], len(w), n), table(problem["G"], len(b), n)
    demand(
        table(problem["M"], n, n) == [list(column) for column in zip(*M, strict=True)] and positive(M),
        "has no symmetric M > 0",
    )
    demand(leaf["mode"] == "*" and sum(sizes) == len(w), "does not fit the problem")
    demand(all(dot(row, v) == x for row, x in zip(G, b, strict=True)), "has a motion that leaves the bilateral rows")
    u = [dot(row, v) + x for row, x in zip(J, w, strict=True)]
    for size, friction in zip(sizes, mu, strict=True):
        (normal, *slip), u = u[:size], u[size:]
        inside = normal > 0 and friction >= 0 and normal**2 > friction**2 * sum(x * x for x in slip)
        demand(inside and size > 0, "has a motion that is not strictly inside")
    return "EXISTS: a motion strictly inside all cones proves that the velocity problem has a solution"


def positive(M: Any) -> bool:
    """Whether all pivots of a symmetric matrix are positive."""
    while M and M[0][0] > 0:
        top = M[0]
        M = [
            [x - row[0] / top[0] * y for x, y in zip(row[1:], top[1:], strict=True)] if row[0] else row[1:]
            for row in M[1:]
        ]
    return not M


KINDS = {"lcp": lcp, "planar_body": planar, "blocks": local, "farkas": empty, "slater": strict}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
