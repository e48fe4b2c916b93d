"""Checks a certificate from its own data alone. Standard library only: python checker.py CERTIFICATE.json

The first part checks linear complementarity problems and planar bodies; the second adds problems of blocks, empty
linear systems and strictly feasible motions. docs/certificates.md states what is checked. A row is a relation
("=", ">=" or ">") and its coefficients by variable, with the right-hand side under "b".
"""

import hashlib
import json
import re
import sys
from fractions import Fraction
from typing import Any

ORDER = ("=", ">=", ">")  # of the rows of a leaf


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


def lcp(problem: Any, leaves: Any, at: list[str]) -> str:
    """0 <= z, w = M z + q >= 0, z w = 0; variables z, w."""
    q = vector(problem["q"])
    n, M = len(q), table(problem["M"], len(q), len(q))
    newton = [("=", {n + i: 1, **{j: -M[i][j] for j in range(n)}, "b": q[i]}) for i in range(n)]
    return solutions(newton, [unilateral("01", n + i, i) for i in range(n)], leaves, at, "z")


def unilateral(letters: str, u: int, f: int) -> Any:
    """Return the rows of every mode of 0 <= u, f, u f = 0."""
    closed, opened = [("=", {u: 1}), (">=", {f: 1})], [("=", {f: 1}), (">", {u: 1})]
    return {letters[0]: opened, letters[1]: closed, "*": [(">=", {f: 1}), (">=", {u: 1})]}


def planar(problem: Any, leaves: Any, at: list[str]) -> str:
    """A rigid body in the plane: a = G r + b at its contacts, n into the body, t = (n_y, -n_x)."""
    points, (m, J), force = table(problem["points"], -1, 2), vector([problem["m"], problem["J"]]), problem["force"]
    count, drift = len(points), sum(table(problem["drift"], len(points), 2), [])  # noqa: RUF017
    normals = table(problem["normals"], count, 2)
    demand(m > 0 and J > 0 and all(map(any, normals)), "has a mass, inertia or normal that is none")
    rows = [
        [ex, ey, x * ey - y * ex]
        for (x, y), (a, b) in zip(points, normals, strict=True)
        for ex, ey in ((a, b), (b, -a))
    ]
    light = [[x / m, y / m, angle / J] for x, y, angle in rows]
    G = [[dot(row, other) for other in rows] for row in light]
    b = [dot(row, vector(force, 3)) + d for row, d in zip(light, drift, strict=True)]
    mu, mu_s = vector(problem["mu"], count), vector(problem["mu_s"], count)
    laws = enumerate(zip(mu, mu_s, problem["bilateral"], problem["state"], strict=True))
    blocks = [contact(2 * k, 2 * (count + k), *law) for k, law in laws]
    return solutions(newton_rows(G, b), blocks, leaves, at, "acceleration")


def newton_rows(G: Any, b: Any) -> Any:
    """Return a - G r = b with the variables a, r."""
    n = len(b)
    coefficients: Any = [{i: 1, **{n + j: -x for j, x in enumerate(G[i])}} for i in range(n)]
    return [("=", {**row, "b": end}) for row, end in zip(coefficients, b, strict=True)]


def contact(a: int, r: int, mu: Any, mu_s: Any, bilateral: Any, state: Any) -> Any:
    """Return the rows of every mode of a planar contact with a_n, a_t at a, a + 1 and r_n, r_t at r, r + 1."""
    demand(bilateral in (True, False) and state in (0, 1, -1) and 0 <= mu <= mu_s, "has no law of contact")
    touch: Any = ("=", {a: 1})
    modes: Any = {} if bilateral else {"D": [("=", {r: 1}), ("=", {r + 1: 1}), (">", {a: 1})]}
    for side, names in ((1, "LS+-"), (-1, "lspm"))[: 1 + bilateral]:
        load = (">=", {r: 1}) if side > 0 else (">", {r: -1})
        cone = [(">=", {r: side * mu_s, r + 1: -1}), (">=", {r: side * mu_s, r + 1: 1})]
        slide = [touch, ("=", {r: side * state * mu, r + 1: 1}), load]
        slips = {
            x: [touch, ("=", {r: side * s * mu, r + 1: 1}), load, (">", {a + 1: s})]
            for x, s in zip(names[2:], (1, -1), strict=True)
        }
        modes |= {names[0]: slide} if state else {names[1]: [touch, ("=", {a + 1: 1}), load, *cone], **slips}
    rest = [(">=", {a: 1}), (">=", {r: 1})]
    rest += [("=", {r: state * mu, r + 1: 1})] if state else [(">=", {r: mu_s, r + 1: -1}), (">=", {r: mu_s, r + 1: 1})]
    return {**modes, "*": [touch] if bilateral else rest}


def solutions(newton: Any, blocks: Any, leaves: Any, at: list[str], noun: str) -> str:
    """Check that every mode is solved or refuted, and count the solutions by the first half of the variables."""
    partition([leaf["mode"] for leaf in leaves], [set(modes) - {"*"} for modes in blocks])
    points = set()
    for leaf in leaves:
        at[0] = f"leaf {leaf['mode']}"
        rows = newton + [row for modes, letter in zip(blocks, leaf["mode"], strict=True) for row in modes[letter]]
        points.add(solution(leaf, len(newton), sorted(rows, key=lambda row: ORDER.index(row[0]))))
    if "many" in points:
        return f"CONTINUUM: the solutions fill a continuum of {noun}"
    count = len(points - {None})
    several = f"MULTIPLE: exactly {count} values of {noun} solve the problem"
    return ("NONE: no mode has a solution", f"UNIQUE: exactly one {noun} solves the problem", several)[min(count, 2)]


def solution(leaf: Any, n: int, rows: Any) -> Any:
    """Return None for a refuted leaf, "many" for a ray, else the one value of the first n variables."""
    demand(("witness" in leaf) != ("refutation" in leaf), "has not either a witness or a refutation")
    if "refutation" in leaf:
        value, strictly = combine(leaf["refutation"], rows)
        demand(value < 0 or (value == 0 and strictly), "has multipliers without a contradiction")
        return None
    x, fixed = obeys(vector(leaf["witness"], 2 * n), rows), [row for relation, row in rows if relation == "="]
    demand(leaf["rank"] == rank(fixed), "has another rank than it says")
    if "ray" in leaf:
        end = obeys([a + b for a, b in zip(x, vector(leaf["ray"], 2 * n), strict=True)], rows)
        demand(end[:n] != x[:n], "has a ray that leaves the solution where it is")
        return "many"
    if "implied" in leaf:
        demand(combine(leaf["implied"], rows) == (Fraction(0), False), "has implied equalities without proof")
        fixed += [
            row for z, (relation, row) in zip(vector(leaf["implied"]), rows, strict=True) if z and relation == ">="
        ]
    demand(rank(fixed + [{i: 1} for i in range(n)]) == rank(fixed), "shows no single point")
    return tuple(x[:n])


def partition(modes: list[str], letters: list[set[str]]) -> None:
    """Demand that the leaves are the ends of a tree of modes in which nothing is left out."""
    demand(modes and all(len(mode) == len(letters) for mode in modes), "leaves modes out, or has no such blocks")
    if len(modes) > 1 or modes[0].strip("*"):
        b: Any = next((b for b in range(len(letters)) if all(mode[b] != "*" for mode in modes)), None)
        whole = b is not None and {mode[b] for mode in modes} == letters[b]
        demand(whole, "has leaves that do not partition the modes")
        for letter in letters[b]:
            partition([mode[:b] + "*" + mode[b + 1 :] for mode in modes if mode[b] == letter], letters)


def combine(multipliers: Any, rows: Any) -> tuple[Fraction, bool]:
    """Return e.y + g.z + s.t for E x = e, G x <= g, S x < s (>= rows negated), and whether t is not zero."""
    sums: Any = {"b": Fraction(0)}
    lam = vector(multipliers, len(rows))
    for x, (relation, row) in zip(lam, rows, strict=True):
        demand(x >= 0 or relation == "=", "has a negative multiplier of an inequality")
        for key, value in row.items() if x else ():
            sums[key] = sums.get(key, 0) + (x if relation == "=" else -x) * value
    value = sums.pop("b")
    demand(not any(sums.values()), "has multipliers that do not cancel")
    return value, any(x for x, (relation, _) in zip(lam, rows, strict=True) if relation == ">")


def obeys(x: list[Fraction], rows: Any) -> list[Fraction]:
    """Return x after demanding that it satisfies all rows."""
    for relation, row in rows:
        gap = sum(value * (-1 if key == "b" else x[key]) for key, value in row.items())
        demand(
            gap > 0 or (gap == 0 and relation != ">") if relation != "=" else gap == 0, "has a point outside its mode"
        )
    return x


def rank(rows: Any) -> int:
    """Return the rank of the coefficients of rows."""
    left, count = [{key: Fraction(x) for key, x in row.items() if x and key != "b"} for row in rows], 0
    while left:
        pivot = left.pop()
        for j in list(pivot)[:1]:
            left = [less(row, row[j] / pivot[j], pivot) if j in row else row for row in left]
            count += 1
    return count


def less(row: Any, factor: Fraction, pivot: Any) -> Any:
    """Return row - factor pivot without zeros."""
    new = {key: row.get(key, 0) - factor * pivot.get(key, 0) for key in {**row, **pivot}}
    return {key: x for key, x in new.items() if x}


def dot(a: Any, b: Any) -> Fraction:
    """Return the scalar product."""
    return sum((Fraction(x * y) for x, y in zip(a, b, strict=True) if x), Fraction(0))


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
    q, blocks, u = vector(problem["q"]), [], 0
    n = len(q)
    for law in problem["blocks"]:
        if law["law"] == "contact":
            mu, mu_s = vector([law["mu"], law["mu_s"]])
            blocks.append(contact(u, n + u, mu, mu_s, law["bilateral"], law["state"]))
        else:
            demand(law["law"] in ("unilateral", "dry"), "has no such law")
            blocks.append(unilateral("DL", u, n + u) if law["law"] == "unilateral" else dry(u, n + u, law))
        u += 2 if law["law"] == "contact" else 1
    demand(u == n, "has not one block per row")
    return solutions(newton_rows(table(problem["W"], n, n), q), blocks, leaves, at, "motion")


def dry(u: int, f: int, law: Any) -> Any:
    """Return the rows of every mode of |f| <= c against the slip u."""
    c, c_s = vector([law["c"], law["c_s"]])
    demand(0 <= c <= c_s, "has no law of friction")
    cone = [(">=", {f: -1, "b": -c_s}), (">=", {f: 1, "b": -c_s})]
    slips = {x: [("=", {f: 1, "b": -s * c}), (">", {u: s})] for x, s in (("+", 1), ("-", -1))}
    return {"S": [("=", {u: 1}), *cone], "*": cone, **slips}


def empty(problem: Any, leaves: Any, at: list[str]) -> str:
    """Check a Farkas vector for A x = b, C x >= d."""
    at[0], (leaf,) = "leaf *", leaves
    A, C, b, d = table(problem["A"]), table(problem["C"]), vector(problem["b"]), vector(problem["d"])
    demand(leaf["mode"] == "*" and len({len(row) for row in A + C}) == 1, "does not fit the problem")
    rows = [("=", {**dict(enumerate(row)), "b": end}) for row, end in zip(A, b, strict=True)]
    rows += [(">=", {**dict(enumerate(row)), "b": end}) for row, end in zip(C, d, strict=True)]
    demand(combine(leaf["refutation"], rows)[0] < 0, "has multipliers without a contradiction")
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
