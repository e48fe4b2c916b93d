"""Checks the certificate of an LCP or a planar body from its own data alone: python checker.py CERTIFICATE.json ...

Standard library only; docs/certificates.md says what is checked, checker_blocks.py checks further kinds. A form is a
dict of coefficients by variable, with the constant under -1; a row says that a form is = 0, >= 0 or > 0.
"""

import hashlib
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any


def verdict(read: Any, kinds: Any = None) -> str:
    """Return "VALID: claim", "INVALID: place why" or "UNKNOWN: why" for the JSON text that `read` returns."""
    place, kinds, said = ["document"], kinds or KINDS, None
    try:
        demand({"kind", "sha256"} <= {*(document := json.loads(read()))}, "it has no kind or no sha256")
        said, body = document.pop("sha256"), json.dumps(document, sort_keys=True, separators=(",", ":"))
        demand(said == hashlib.sha256(body.encode()).hexdigest(), "has another hash than it says")
        if (kind := document["kind"]) not in kinds:
            return f"UNKNOWN: {kind!a:.60} is not a kind that I know; I know {', '.join(kinds)}"
        claim = kinds[kind](document["problem"], document["leaves"], place)
        return f"VALID: {claim}" if document.get("claim") == claim else f"INVALID: document proves only: {claim}"
    except Exception as error:  # whatever a file holds, it must not stop the checker
        what = "UNKNOWN: no certificate:" if said is None else f"INVALID: {place[0]}"
        return f"{what} {error!s:.80} ({type(error).__name__})".encode("unicode_escape").decode()


def main(paths: list[str], kinds: Any = None) -> int:
    """Print the verdict of every file; return 0 if all are valid, 1 if one is invalid, 2 if one is none of theirs."""
    print("\n".join(verdicts := [verdict(Path(path).read_bytes, kinds) for path in paths]) or __doc__)
    return max((STATUS[line.split(":")[0]] for line in verdicts), key=(0, 2, 1).index, default=2)


def demand(condition: Any, why: str) -> Any:
    """Raise ValueError(why) unless the condition holds."""
    if not condition:
        raise ValueError(why)


def lcp(problem: Any, leaves: Any, place: list[str]) -> str:
    """0 <= z, w = M z + q >= 0, z w = 0; variables z, w."""
    M, q = exact([problem["M"], problem["q"]])
    pairs = [({i: 1}, {i + len(q): 1}) for i in range(len(q))]
    modes = [{"0": [("=", z), (">", w)], "1": [("=", w), ("≥", z)], "*": [("≥", z), ("≥", w)]} for z, w in pairs]
    return prove([[*row, end] for row, end in zip(M, q, strict=True)], len(q), range(len(q)), modes, leaves, place, "z")


def planar(body: Any, leaves: Any, place: list[str]) -> str:
    """A rigid body in the plane: a = G r + b at its contacts, n into the body, t = (n_y, -n_x); variables a, r."""
    keys = ("m", "J", "points", "normals", "force", "drift", "mu", "mu_s", "state")
    m, J, points, normals, force, drift, *laws = exact([body[key] for key in keys])
    demand(m > 0 and J > 0 and all(map(any, normals)), "has a mass, inertia or normal that is none")
    rows = [(x, y, p * y - q * x) for (p, q), (n, t) in zip(points, normals, strict=True) for x, y in ((n, t), (t, -n))]
    G = [[(x * X + y * Y) / m + turn * T / J for X, Y, T in (*rows, force)] for x, y, turn in rows]
    W = [[*row, end + d] for (*row, end), d in zip(G, [d for n, t in drift for d in (n, t)], strict=True)]
    modes = [contact(2 * k, len(W) + 2 * k, *law) for k, law in enumerate(zip(body["bilateral"], *laws, strict=True))]
    return prove(W, 0, range(len(W), 2 * len(W)), modes, leaves, place, "acceleration")


def contact(a: int, r: int, held: Any, mu: Any, mu_s: Any, state: Any) -> Any:
    """Return the rows of every mode of a planar contact with a_n, a_t at a, a + 1 and r_n, r_t at r, r + 1."""
    demand(0 <= mu <= mu_s and state in (0, 1, -1), "has no law of contact")
    modes = {} if held else {"D": [("=", {r: 1}), ("=", {r + 1: 1}), (">", {a: 1})]}
    for side, load, letters in ((1, "≥", "L" if state else "S+-"), (-1, ">", "l" if state else "spm"))[: 1 + held]:
        cone = [("≥", {r: side * mu_s, r + 1: x}) for x in (-1, 1)]
        for letter, s in zip(letters, (state, 1, -1), strict=False):
            slip = [("=", {r: side * s * mu, r + 1: 1}), (">", {a + 1: s})][: 1 if state else 2]
            modes[letter] = [("=", {a: 1}), (load, {r: side}), *(slip if s else [("=", {a + 1: 1}), *cone])]
    return {"*": [("=", {a: 1})] if held else [("≥", {a: 1}), ("≥", {r: 1}), *(slip if state else cone)], **modes}


def prove(W: Any, u: int, f: Any, blocks: Any, leaves: Any, place: list[str], noun: str) -> str:
    """Return the claim that the leaves prove about the first half of the variables, where u = W (f, 1)."""
    newton = [("=", {u + i: 1, **{j: -x for j, x in zip((*f, -1), row, strict=True)}}) for i, row in enumerate(W)]
    demand(partition([leaf["mode"] for leaf in leaves], blocks), "has leaves that do not partition the modes")
    points = {solution(leaf, newton, blocks, place) for leaf in leaves} - {None}
    few = {0: "NONE: no mode has a solution", 1: f"UNIQUE: exactly one {noun} solves the problem"}
    many = f"MULTIPLE: exactly {len(points)} values of {noun} solve the problem"
    return f"CONTINUUM: the solutions fill a continuum of {noun}" if "segment" in points else few.get(len(points), many)


def partition(modes: list[str], blocks: Any) -> bool:
    """Whether the modes are the ends of a tree, in which every branch decides a block in all of its letters."""
    splits = [b for b, column in enumerate(zip(*modes, strict=True)) if {*column} == {*blocks[b]} - {"*"}][:1]
    branches = [[m[:b] + "*" + m[b + 1 :] for m in modes if m[b] == x] for b in splits for x in {*blocks[b]} - {"*"}]
    return all(partition(branch, blocks) for branch in branches) if branches else modes == ["*" * len(blocks)]


def solution(leaf: Any, newton: Any, blocks: Any, place: list[str]) -> Any:
    """Return the only value of the first half of the variables in a leaf, "segment", or None if there is none."""
    place[0] = f"leaf {leaf['mode']}"
    modes = [newton, *(rows[letter] for rows, letter in zip(blocks, leaf["mode"], strict=True))]
    E, G, S = ([form for rows in modes for kind, form in rows if kind == relation] for relation in "=≥>")
    if "refutation" in leaf:
        return demand(contradict(E, G, S, exact(leaf["refutation"])), "has multipliers that show no contradiction")
    x, ray = exact([leaf["witness"], leaf.get("ray", [0] * 2 * len(newton))])
    ends = [[*x, 1], [*(a + b for a, b in zip(x, ray, strict=True)), 1]]
    e, g, s = ([sum(a * end[j] for j, a in form.items()) for end in ends for form in forms] for forms in (E, G, S))
    demand(not any(e) and min([0, *g]) >= 0 < min([1, *s]) and "*" not in leaf["mode"], "has a point outside its mode")
    beside = [{i: s, -1: -s * x[i]} for i in range(len(newton)) for s in (1, -1) if not any(ray[: len(newton)])]
    single = [contradict(E, G, [*S, form], y) for form, y in zip(beside, exact(leaf.get("single", [])), strict=True)]
    demand(all(single), "shows no single point")
    return "segment" if any(ray[: len(newton)]) else tuple(x[: len(newton)])


def contradict(E: Any, G: Any, S: Any, y: Any) -> bool:
    """Whether E = 0, G >= 0 and S > 0, times y and the latter two subtracted, add up to a contradiction."""
    terms = [*zip(y, E, strict=False), *((-x, form) for x, form in zip(y[len(E) :], G + S, strict=True))]
    end, *sums = [sum(x * form[j] for x, form in terms if x and j in form) for j in sorted({-1}.union(*E, *G, *S))]
    return min(y[len(E) :], default=0) >= 0 and not any(sums) and (end, any(y[len(E + G) :])) > (0, False)


def exact(x: Any) -> Any:
    """Return the exact values of nested lists of "p/q", integers and doubles."""
    demand(type(x) in (list, int, float) or not {*x} - {*"+-/0123456789"}, f"has no number but {x!s:.40}")
    return [exact(entry) for entry in x] if isinstance(x, list) else Fraction(x)


KINDS = {"lcp": lcp, "planar_body": planar}

STATUS = {"VALID": 0, "INVALID": 1, "UNKNOWN": 2}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
