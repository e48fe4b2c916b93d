"""Checks a certificate from its own data alone. Standard library only: python checker.py CERTIFICATE.json"""

import hashlib
import json
import re
import sys
from fractions import Fraction
from typing import Any

ROW: Any = {"0": ([[0, 1, 0]], [], [[1, 0, 0]]), "1": ([[1, 0, 0]], [[0, 1, 0]], []),
            "*": ([], [[0, 1, 0], [1, 0, 0]], [])}  # modes of 0 <= f, u >= 0, f u = 0: rows on (u, f | bound)
NOUNS = {"lcp": "z", "planar_body": "acceleration", "blocks": "motion"}


class Invalid(Exception):
    """The certificate proves nothing: which leaf, and why."""


def check(document: Any) -> str:
    """Return the claim in words, or raise Invalid("<leaf> <why>")."""
    at = ["document"]
    try:
        body = {key: value for key, value in document.items() if key != "sha256"}
        data = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
        demand(document["sha256"] == hashlib.sha256(data.encode()).hexdigest(), "the hash does not fit the document")
        method = {"farkas": empty, "slater": strict}.get(document["kind"], solutions)
        claim = method(document["kind"], document["problem"], document["leaves"], at)
        at[0] = "document"
        demand(document["claim"] == claim, f"proves something else than its claim: {claim}")
        return claim
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        raise Invalid(f"{at[0]} malformed ({type(error).__name__}: {error!s:.60})") from None
    except Invalid as error:
        raise Invalid(f"{at[0]} {error}") from None


def solutions(kind: str, problem: Any, leaves: Any, at: list[str]) -> str:
    """Check that every mode is solved or refuted, and count the solutions of the primary unknown."""
    W, q, blocks = {"lcp": lcp, "planar_body": planar, "blocks": local}[kind](problem)
    n, m = len(q), len(W[0]) if W else 0
    u, f = (m, 0) if kind == "lcp" else (0, n)  # where motions and forces stand among the variables
    newton = [place([1, *(-x for x in W[i]), q[i]], [u + i, *range(f, f + m)], n + m) for i in range(n)]
    demand(all(len(e["mode"]) == len(blocks) for e in leaves), "a mode has not one letter per block")
    partition([e["mode"] for e in leaves], [set(modes) - {"*"} for _, modes in blocks])
    points, faces = set(), 0
    for leaf in leaves:
        at[0], rows, iu, jf = f"leaf {leaf['mode']!s:.60}", (newton[:], [], []), u, f
        for (motions, modes), letter in zip(blocks, leaf["mode"]):
            where = [*range(iu, iu + motions), *range(jf, jf + motions)]
            for kept, new in zip(rows, modes[letter]):
                kept += [place(row, where, n + m) for row in new]
            iu, jf = iu + motions, jf + motions
        demand(("witness" in leaf) != ("refutation" in leaf), "has not either a witness or a refutation")
        if "refutation" in leaf:
            value, strictly = combine(leaf["refutation"], *rows)
            demand(value < 0 or (value == 0 and strictly), "has multipliers without a contradiction")
            continue
        x, tight = obeys(leaf["witness"], n + m, *rows), [row[:-1] for row in rows[0]]
        demand(leaf["rank"] == rank(tight), "has another rank")
        if "ray" in leaf:
            end = obeys([str(a + b) for a, b in zip(x, vector(leaf["ray"], n + m))], n + m, *rows)
            demand(end[: len(q)] != x[: len(q)], "has a ray that leaves the primary unknown alone")
            faces += 1
            continue
        if "implied" in leaf:
            demand(combine(leaf["implied"], *rows) == (0, False), "has implied equalities that are not proved")
            z = vector(leaf["implied"])[len(rows[0]):]
            tight += [row[:-1] for row, weight in zip(rows[1], z) if weight]
        units = [place([1, 0], [i], n + m)[:-1] for i in range(len(q))]
        demand(rank(tight + units) == rank(tight), "shows neither a point nor a ray")
        points.add(tuple(x[: len(q)]))
    if faces:
        return f"CONTINUUM: the solutions fill a continuum of {NOUNS[kind]}"
    return ("NONE: no mode has a solution", f"UNIQUE: exactly one {NOUNS[kind]} solves the problem",
            f"MULTIPLE: exactly {len(points)} values of {NOUNS[kind]} solve the problem")[min(len(points), 2)]


def lcp(problem: Any) -> Any:
    """Return W, q and the modes of 0 <= z, w = M z + q >= 0, z w = 0; rows on (w, z | bound)."""
    q = vector(problem["q"])
    return table(problem["M"], len(q), len(q)), q, [(1, ROW)] * len(q)


def planar(problem: Any) -> Any:
    """Return G, b of a = G r + b and the modes of the contacts of a planar body."""
    points = problem["points"]
    drift, normals = table(problem["drift"], len(points), 2), table(problem["normals"], len(points), 2)
    mass, inertia = number(problem["m"]), number(problem["J"])
    demand(mass > 0 and inertia > 0 and all(map(any, normals)), "mass, inertia or a normal is zero")
    force, rows = vector(problem["force"], 3), []
    for (x, y), (nx, ny) in zip(table(points, len(points), 2), normals):
        rows += [[ex, ey, x * ey - y * ex] for ex, ey in ((nx, ny), (ny, -nx))]
    light = [[a / mass, b / mass, c / inertia] for a, b, c in rows]
    G = [[dot(row, other) for other in rows] for row in light]
    b = [dot(row, force) + d for row, d in zip(light, [x for pair in drift for x in pair])]
    keys = zip(problem["mu"], problem["mu_s"], problem["bilateral"], problem["state"], strict=True)
    blocks = [(2, contact(*key)) for key in keys]
    demand(len(blocks) == len(points), "not one law per contact")
    return G, b, blocks


def contact(mu: Any, mu_s: Any, both: Any, state: Any) -> Any:
    """Return the modes of a contact: rows on (a_n, a_t, r_n, r_t | bound) as equalities, >= rows, > rows."""
    demand(both in (True, False) and state in (0, 1, -1) and 0 <= number(mu) <= number(mu_s), "not a contact law")
    mu, mu_s, touch, opening, modes = number(mu), number(mu_s), [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], {}
    for side, (slide, stick, *slips) in ((1, "LS+-"), (-1, "lspm")) if both else ((1, "LS+-"),):
        load = [0, 0, side, 0, 0]
        most, below = ([load], []) if side > 0 else ([], [load])
        cone = [[0, 0, side * mu_s, -1, 0], [0, 0, side * mu_s, 1, 0]]
        if state:
            modes[slide] = ([touch, [0, 0, side * state * mu, 1, 0]], most, below)
            continue
        modes[stick] = ([touch, [0, 1, 0, 0, 0]], most + cone, below)
        for s, name in zip((1, -1), slips):
            modes[name] = ([touch, [0, 0, side * s * mu, 1, 0]], most, [*below, [0, s, 0, 0, 0]])
    if both:
        return {**modes, "*": ([touch], [], [])}
    rest = ([[0, 0, state * mu, 1, 0]], [opening, load], []) if state else ([], [opening, load, *cone], [])
    return {**modes, "D": ([[0, 0, 1, 0, 0], [0, 0, 0, 1, 0]], [], [opening]), "*": rest}


def partition(modes: list[str], letters: list[set[str]]) -> None:
    """Demand that the leaves are the ends of a tree of modes that leaves nothing out."""
    if len(modes) == 1 and not modes[0].strip("*"):
        return
    split = [b for b in range(len(letters)) if all(mode[b] != "*" for mode in modes)]
    demand(split and modes, "the leaves do not partition the modes")
    b, parts = split[0], {}
    for mode in modes:
        parts.setdefault(mode[b], []).append(mode[:b] + "*" + mode[b + 1:])
    demand(set(parts) == letters[b], "the leaves do not partition the modes")
    for part in parts.values():
        partition(part, letters)


def local(problem: Any) -> Any:
    """Return W, q and the modes of unilateral rows, planar contacts and rows with dry friction."""
    blocks: list[Any] = []
    for law in problem["blocks"]:
        if law["law"] == "contact":
            blocks.append((2, contact(law["mu"], law["mu_s"], law["bilateral"], law["state"])))
            continue
        c, c_s = (number(law["c"]), number(law["c_s"])) if law["law"] == "dry" else (0, 0)
        demand(law["law"] in ("unilateral", "dry") and 0 <= c <= c_s, "not a law")
        cone = [[0, -1, -c_s], [0, 1, -c_s]]
        dry = {"S": ([[1, 0, 0]], cone, []), "+": ([[0, 1, -c]], [], [[1, 0, 0]]), "-": ([[0, 1, c]], [], [[-1, 0, 0]])}
        blocks.append((1, {**dry, "*": ([], cone, [])} if law["law"] == "dry" else ROW))
    n = sum(size for size, _ in blocks)
    return table(problem["W"], n, n), vector(problem["q"], n), blocks


def empty(kind: str, problem: Any, leaves: Any, at: list[str]) -> str:
    """Check a Farkas vector for A x = b, C x >= d."""
    at[0], (leaf,) = "leaf *", leaves
    E, G = ([[*row, end] for row, end in zip(table(problem[A]), vector(problem[b]), strict=True)] for A, b in ("Ab", "Cd"))
    demand(leaf["mode"] == "*" and len({len(row) for row in E + G}) == 1, "does not fit the problem")
    demand(combine(leaf["refutation"], E, G, [])[0] < 0, "has multipliers without a contradiction")
    return "INFEASIBLE: no x satisfies A x = b and C x >= d"


def strict(kind: str, problem: Any, leaves: Any, at: list[str]) -> str:
    """Check a motion strictly inside the dual friction cones: G v = b, |mu u_t| < u_n with u = J v + w."""
    at[0], (leaf,) = "leaf *", leaves
    M, w = table(problem["M"]), vector(problem["w"])
    n = len(M)
    J, b, i = table(problem["J"], len(w), n), vector(problem["b"]), 0
    demand(table(M, n, n) == [list(column) for column in zip(*M)] and positive(M), "M is not symmetric and positive")
    v = vector(leaf["witness"], n)
    demand(all(dot(row, v) == x for row, x in zip(table(problem["G"], len(b), n), b)), "leaves the bilateral rows")
    u = [dot(row, v) + x for row, x in zip(J, w)]
    for size, mu in zip(problem["sizes"], vector(problem["mu"]), strict=True):
        normal, *slip = u[i: i + size]
        demand(mu >= 0 and normal > 0 and normal**2 > mu**2 * sum(x * x for x in slip), "is not strictly inside")
        i += size
    demand(leaf["mode"] == "*" and i == len(u), "does not fit the problem")
    return "EXISTS: a motion strictly inside all cones proves that the velocity problem has a solution"


def combine(multipliers: Any, E: Any, G: Any, S: Any) -> tuple[Fraction, bool]:
    """Return e.y + g.z + s.t for E x = e, G x <= g, S x < s (>= rows negated), and whether t is not zero."""
    rows = [*E, *([-x for x in row] for row in G + S)]
    lam = vector(multipliers, len(rows))
    demand(all(x >= 0 for x in lam[len(E):]), "has a negative multiplier of an inequality")
    used = [(x, row) for x, row in zip(lam, rows) if x]
    *sums, value = [sum(x * row[j] for x, row in used) for j in range(len(rows[0]))]
    demand(not any(sums), "has multipliers that do not cancel")
    return Fraction(value), any(lam[len(E) + len(G):])


def obeys(numbers: Any, size: int, E: Any, G: Any, S: Any) -> list[Fraction]:
    """Return the vector after demanding that it satisfies all rows."""
    x = vector(numbers, size)
    gaps = [[dot(row, x) - row[-1] for row in rows] for rows in (E, G, S)]
    good = not any(gaps[0]) and all(gap >= 0 for gap in gaps[1]) and all(gap > 0 for gap in gaps[2])
    demand(good, "has a witness or ray that does not obey its mode")
    return x


def rank(rows: Any) -> int:
    """Return the rank of rows of exact numbers."""
    left, count = [row[:] for row in rows], 0
    while left:
        pivot = left.pop()
        j = next((j for j, x in enumerate(pivot) if x), None)
        if j is not None:
            count += 1
            left = [[a - row[j] / pivot[j] * b for a, b in zip(row, pivot)] if row[j] else row for row in left]
    return count


def positive(M: Any) -> bool:
    """Whether all pivots of a symmetric matrix are positive."""
    while M and M[0][0] > 0:
        M = [[x - row[0] / M[0][0] * y for x, y in zip(row[1:], M[0][1:])] for row in M[1:]]
    return not M


def dot(a: Any, b: Any) -> Fraction:
    """Return the scalar product over the shorter length."""
    return sum((Fraction(x * y) for x, y in zip(a, b) if x), Fraction(0))


def place(row: Any, where: Any, width: int) -> list[Fraction]:
    """Return the row (bound last) with its coefficients at the given variables."""
    wide = [Fraction(0)] * width + [Fraction(row[-1])]
    for x, j in zip(row[:-1], where):
        wide[j] += x
    return wide


def table(x: Any, rows: int = -1, columns: int = -1) -> list[list[Fraction]]:
    """Return exact numbers row by row."""
    demand(rows in (-1, len(x)), f"not {rows} rows")
    return [vector(row, columns) for row in x]


def vector(x: Any, size: int = -1) -> list[Fraction]:
    """Return a list of exact numbers."""
    demand(isinstance(x, list) and size in (-1, len(x)), f"not a list of {size} numbers: {x!s:.40}")
    return [number(value) for value in x]


def number(x: Any) -> Fraction:
    """Return the exact value of "p/q", an integer, or a double."""
    good = re.fullmatch("[+-]?[0-9]+(/[0-9]*[1-9][0-9]*)?", x) if isinstance(x, str) else type(x) in (int, float, Fraction)
    demand(good, f"not a number: {x!s:.40}")
    return Fraction(x)


def demand(condition: Any, why: str) -> None:
    """Raise Invalid(why) unless the condition holds."""
    if not condition:
        raise Invalid(why)


def main(paths: list[str]) -> int:
    """Print the verdict of every file; 0 if all are valid."""
    status = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                print("VALID:", check(json.load(file)))
        except Invalid as error:
            status = print("INVALID:", error) or 1
        except (OSError, ValueError, RecursionError) as error:
            status = print(f"INVALID: document unreadable: {error}") or 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
