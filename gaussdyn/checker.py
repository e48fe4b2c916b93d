"""Checks the certificate of an LCP or a planar body from its own data alone: python checker.py CERTIFICATE.json ...

Standard library only; docs/certificates.md says what is checked, checker_blocks.py checks further kinds. A row is a
relation to zero and a linear form: coefficients by variable, the constant under -1.
"""

import hashlib
import json
import sys
from fractions import Fraction
from operator import eq, ge, gt
from typing import Any

HOLDS = {"=": eq, "≥": ge, ">": gt}  # in the order of a leaf's rows


class Invalid(Exception):
    """The certificate proves nothing: which leaf, and why."""


def demand(condition: Any, why: str) -> None:
    """Raise Invalid(why) unless the condition holds."""
    if not condition:
        raise Invalid(why)


def check(document: Any, kinds: Any = None) -> str:
    """Return the claim in words, or raise Invalid("<leaf> <why>")."""
    at = ["document"]
    try:
        body = json.dumps({k: document[k] for k in {*document} - {"sha256"}}, sort_keys=True, separators=(",", ":"))
        demand(document["sha256"] == hashlib.sha256(body.encode()).hexdigest(), "has another hash than it says")
        demand(document["kind"] in (kinds or KINDS), "is of another kind than this program checks")
        claim: str = (kinds or KINDS)[document["kind"]](document["problem"], document["leaves"], at)
        at[0] = "document"
        demand(document["claim"] == claim, f"proves something else than its claim: {claim}")
        return claim
    except Exception as error:  # whatever a file holds, it must not stop the checker
        why = error if isinstance(error, Invalid) else f"is malformed ({type(error).__name__}: {error!s:.60})"
        raise Invalid(f"{at[0]} {why}") from None


def lcp(problem: Any, leaves: Any, at: list[str]) -> str:
    """0 <= z, w = M z + q >= 0, z w = 0; variables z, w."""
    M, q = exact([problem["M"], problem["q"]])
    pairs = [({i: 1}, {i + len(q): 1}) for i in range(len(q))]
    modes = [{"0": [("=", z), (">", w)], "1": [("=", w), ("≥", z)], "*": [("≥", z), ("≥", w)]} for z, w in pairs]
    return claim(newton(len(q), 0, M, q), modes, leaves, at, "z")


def planar(body: Any, leaves: Any, at: list[str]) -> str:
    """A rigid body in the plane: a = G r + b at its contacts, n into the body, t = (n_y, -n_x); variables a, r."""
    keys = ("m", "J", "points", "normals", "force", "drift", "mu", "mu_s", "state")
    m, J, points, normals, force, drift, *laws = exact([body[key] for key in keys])
    demand(m > 0 and J > 0 and all(map(any, normals)), "has a mass, inertia or normal that is none")
    sides = [(p, e) for p, (x, y) in zip(points, normals, strict=True) for e in ((x, y), (y, -x))]
    rows = [(*e, p[0] * e[1] - p[1] * e[0]) for p, e in sides]
    light = [(ex / m, ey / m, turn / J) for ex, ey, turn in rows]
    b = [dot(row, force) + d for row, d in zip(light, [d for n, t in drift for d in (n, t)], strict=True)]
    modes = [contact(2 * k, len(b) + 2 * k, *law) for k, law in enumerate(zip(body["bilateral"], *laws, strict=True))]
    G = [[dot(a, row) for row in rows] for a in light]
    return claim(newton(0, len(b), G, b), modes, leaves, at, "acceleration")


def newton(u: int, f: int, W: Any, q: Any) -> Any:
    """Return the rows u = W f + q of the variables from u and from f on."""
    n, rows = len(q), enumerate(zip(W, q, strict=True))
    terms = [(u + i, end, zip(range(f, f + n), row, strict=True)) for i, (row, end) in rows]
    return [("=", {i: 1, -1: -end, **{j: -x for j, x in row}}) for i, end, row in terms]


def contact(a: int, r: int, held: Any, mu: Any, mu_s: Any, state: Any) -> Any:
    """Return the rows of every mode of a planar contact with a_n, a_t at a, a + 1 and r_n, r_t at r, r + 1."""
    demand(0 <= mu <= mu_s and held in (True, False) and state in (0, 1, -1), "has no law of contact")
    modes: Any = {"*": [("=", {a: 1})]} if held else {"D": [("=", {r: 1}), ("=", {r + 1: 1}), (">", {a: 1})]}
    for side, letters in ((1, "L" if state else "S+-"), (-1, "l" if state else "spm"))[: 1 + held]:
        touch = [("=", {a: 1}), ("≥", {r: 1}) if side > 0 else (">", {r: -1})]
        cone = [("≥", {r: side * mu_s, r + 1: x}) for x in (-1, 1)]
        for letter, s in zip(letters, (state, 1, -1), strict=False):
            slip = [("=", {r: side * s * mu, r + 1: 1}), (">", {a + 1: s})]
            modes[letter] = touch + (slip[:1] if state else slip if s else [("=", {a + 1: 1}), *cone])
    return {"*": [("≥", {a: 1}), ("≥", {r: 1}), *(slip[:1] if state else cone)], **modes}


def claim(newton: Any, blocks: Any, leaves: Any, at: list[str], noun: str) -> str:
    """Check that every mode is solved or refuted, and count the solutions by the first half of the variables."""
    partition([leaf["mode"] for leaf in leaves], [{*modes} - {"*"} for modes in blocks])
    points: set[Any] = set()
    for leaf in leaves:
        at[0] = f"leaf {leaf['mode']}"
        rows = newton + [row for modes, letter in zip(blocks, leaf["mode"], strict=True) for row in modes[letter]]
        points |= solutions(leaf, len(newton), sorted(rows, key=lambda row: list(HOLDS).index(row[0])))
    count, one = len(points), f"UNIQUE: exactly one {noun} solves the problem"
    said = ["NONE: no mode has a solution", one, f"MULTIPLE: exactly {count} values of {noun} solve the problem"]
    return f"CONTINUUM: the solutions fill a continuum of {noun}" if None in points else said[min(count, 2)]


def solutions(leaf: Any, n: int, rows: Any) -> set[Any]:
    """Return the values of the first n variables in a leaf: none, one, or None for a continuum."""
    demand(("witness" in leaf) != ("refutation" in leaf), "has not either a witness or a refutation")
    rows = [(kind, [form.get(j, 0) for j in (*range(2 * n), -1)]) for kind, form in rows]
    factors = exact(leaf.get("refutation", leaf.get("implied", [0] * len(rows))))
    used = [(x if kind == "=" else -x, kind, row) for x, (kind, row) in zip(factors, rows, strict=True) if x]
    demand(all(x < 0 or kind == "=" for x, kind, _ in used), "has a negative multiplier of an inequality")
    *sums, end = [sum(x * row[j] for x, _, row in used if row[j]) for j in range(2 * n + 1)]
    demand(not any(sums), "has multipliers that do not cancel")
    if "refutation" in leaf:
        strictly = any(kind == ">" for _, kind, _ in used)
        demand(end > 0 or (end == 0 and strictly), "has multipliers without a contradiction")
        return set()
    x, ray = exact([leaf["witness"], leaf.get("ray", [0] * 2 * n)])
    for point in x, [a + b for a, b in zip(x, ray, strict=True)]:
        demand(all(HOLDS[kind](dot(row, [*point, 1]), 0) for kind, row in rows), "has a point outside its mode")
    fixed = [row[:-1] for kind, row in rows if kind == "="]
    demand(leaf["rank"] == rank(fixed), "has another rank than it says")
    demand(any(ray[:n]) == ("ray" in leaf), "has a ray that leaves the solution where it is")
    fixed += [row[:-1] for _, _, row in used if end == 0]
    demand("ray" in leaf or rank(fixed) == n + rank([row[n:] for row in fixed]), "shows no single point")
    return {None if "ray" in leaf else tuple(x[:n])}


def partition(modes: list[str], letters: list[set[str]]) -> None:
    """Demand that the leaves are the ends of a tree of modes."""
    if modes != ["*" * len(letters)]:
        b = next((b for b, column in enumerate(zip(*modes, strict=True)) if {*column} == letters[b]), -1)
        demand(b >= 0, "has leaves that leave modes out or do not partition them")
        for letter in letters[b]:
            partition([mode[:b] + "*" + mode[b + 1 :] for mode in modes if mode[b] == letter], letters)


def rank(rows: Any) -> int:
    """Return the rank of a matrix."""
    top, j = next(((row, j) for row in rows for j, x in enumerate(row) if x), ([], 0))
    steps = [(row, Fraction(row[j]) / top[j]) for row in rows if any(row)]
    left = [[x - step * y if y else x for x, y in zip(row, top, strict=True)] for row, step in steps]
    return 1 + rank(left) if top else 0


def exact(x: Any) -> Any:
    """Return the exact values of nested lists of "p/q", integers and doubles."""
    if isinstance(x, list):
        return [exact(entry) for entry in x]
    demand(type(x) in (int, float) or not {*x} - {*"+-/0123456789"}, f"has no number but {x!s:.40}")
    return Fraction(x)


def dot(a: Any, b: Any) -> Any:
    """Return the scalar product."""
    return sum(x * y for x, y in zip(a, b, strict=True) if x and y)


def main(paths: list[str], kinds: Any = None) -> int:
    """Print the verdict of every file; return 0 if all are valid."""
    bad = not paths
    for path in paths:
        try:
            with open(path, "rb") as file:
                print(f"VALID: {check(json.load(file), kinds)}")
        except (Invalid, OSError, ValueError, RecursionError) as error:
            bad = True
            print(f"INVALID: {error if isinstance(error, Invalid) else f'document cannot be read ({error})'}")
    return int(bad)


KINDS = {"lcp": lcp, "planar_body": planar}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
