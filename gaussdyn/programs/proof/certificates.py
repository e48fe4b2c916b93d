"""Proofs that anyone can check: exact data, one leaf per mode or cut subtree, and a hash; `checker` reads them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import checker_spatial_several
from ..._html import card
from ..._show import fitted, short
from ..._version import __version__
from ...arrays import Array, matrix, vector
from ...linalg.rational import integer_row, rationals, text
from .exact_linear import AT_LEAST, EQUAL, feasible, prove_empty

FARKAS_CLAIM = "INFEASIBLE: no x satisfies A x = b and C x >= d"
PROGRAMS = {"lcp": "checker", "planar_body": "checker", "spatial_contacts": "checker_spatial_several"}
SMALL = 60  # rows up to which an exact simplex may replace a rounding that fails


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A proof as a JSON-ready document.

    Attributes
    ----------
    document : dict
        kind, problem (exact data), claim, leaves, provenance, sha256; see docs/certificates.md.
    """

    document: dict[str, Any]

    @classmethod
    def of(
        cls,
        kind: str,
        problem: Mapping[str, Any],
        claim: str,
        leaves: Sequence[Mapping[str, Any]],
        provenance: Mapping[str, Any] | None = None,
    ) -> Certificate:
        """Assemble the document and seal it with its hash."""
        document: dict[str, Any] = {
            "kind": kind,
            "problem": dict(problem),
            "claim": claim,
            "leaves": [dict(x) for x in leaves],
        }
        document["provenance"] = {"engine": f"gaussdyn {__version__}", **(provenance or {})}
        return cls(document={**document, "sha256": digest(document)})

    def __repr__(self) -> str:
        """Return what it is about, what it claims, and how long the proof is."""
        said = {key: self.document.get(key) for key in ("kind", "claim", "sha256")}
        leaves = len(self.document.get("leaves", ()))
        return fitted("Certificate", [*(f"{key}={short(value)}" for key, value in said.items()), f"{leaves} leaves"])

    def _repr_html_(self) -> str:
        """Return a card for notebooks: the claim, and how to check it without this package."""
        rows = {"kind": str(self.document["kind"]), "sha256": str(self.document["sha256"])}
        return card("Certificate", self.explain(), rows)

    @property
    def claim(self) -> str:
        """What is proved, in words."""
        return str(self.document["claim"])

    def verify(self) -> bool:
        """Whether the checker accepts the document."""
        return checker_spatial_several.verdict(self.to_json) == f"VALID: {self.claim}"

    def explain(self) -> str:
        """Return the claim, what it is about, and how to check it without this package."""
        about = self.document["provenance"].get("about")
        head = f"{self.claim}." + (f" About: {about}." if about else "")
        count = len(self.document["leaves"])
        kind = self.document["kind"]
        program = PROGRAMS.get(kind, "checker_spatial" if kind.startswith("spatial") else "checker_blocks")
        return f"{head} Leaves: {count}. Check with: python {program}.py CERTIFICATE.json"

    def to_json(self) -> str:
        """Return the document as JSON text."""
        return json.dumps(self.document, sort_keys=True, ensure_ascii=True)

    def save(self, path: str | Path) -> Path:
        """Write the document to a file and return its path."""
        path = Path(path)
        path.write_text(self.to_json() + "\n", encoding="utf-8")
        return path


def digest(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the document without its own hash, in hexadecimal."""
    body = {key: value for key, value in document.items() if key != "sha256"}
    data = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(data.encode("ascii")).hexdigest()


def farkas_certificate(
    A: ArrayLike,
    b: ArrayLike,
    C: ArrayLike,
    d: ArrayLike,
    y: ArrayLike,
    z: ArrayLike,
    *,
    claim: str,
    provenance: Mapping[str, Any] | None = None,
) -> Certificate | None:
    """Prove that {x : A x = b, C x >= d} is empty, from an approximate Farkas vector.

    Parameters
    ----------
    A, b : array_like, shapes (p, n), (p,)
    C, d : array_like, shapes (m, n), (m,)
    y, z : array_like, shapes (p,), (m,)
        A^T y + C^T z = 0, z >= 0, b.y + d.z > 0, up to rounding.
    claim : str
        What this means for the caller, e.g. which rows contradict; kept in the provenance.

    Returns
    -------
    Certificate or None
        None if no exact proof could be made from the vector.

    Raises
    ------
    InputError
        NaN or wrong shapes.
    """
    b, d = vector("b", b), vector("d", d)
    C = matrix("C", C, len(d))
    A = matrix("A", A, len(b), C.shape[1]) if len(b) else np.zeros((0, C.shape[1]))
    rows = [[*rationals(row), *rationals([end])] for row, end in zip([*A, *C], [*b, *d], strict=True)]
    kinds = [EQUAL] * len(b) + [AT_LEAST] * len(d)
    lam = exact_refutation(rows, kinds, np.r_[vector("y", y, len(b)), vector("z", z, len(d))])
    if lam is None:
        return None
    exact = [text(row) for row in rows]
    problem = {
        "A": [row[:-1] for row in exact[: len(b)]], "b": [row[-1] for row in exact[: len(b)]],
        "C": [row[:-1] for row in exact[len(b) :]], "d": [row[-1] for row in exact[len(b) :]],
    }  # fmt: skip
    leaf = {"mode": "*", "refutation": text([-x for x in lam[: len(b)]] + lam[len(b) :])}
    facts = {"about": claim, "numbers": "exact values of doubles", **(provenance or {})}
    return Certificate.of("farkas", problem, FARKAS_CLAIM, [leaf], facts)


def exact_refutation(rows: Sequence[Sequence[Fraction]], kinds: Sequence[int], guess: Array) -> list[Fraction] | None:
    """Return exact multipliers lam near `guess` with sum lam A = 0, lam >= 0 on inequalities, sum lam b > 0.

    The support of `guess` is solved exactly; small systems fall back on an exact simplex.
    """
    whole = [integer_row(row) for row in rows]
    size = np.array([max((abs(float(x)) for x in row[:-1]), default=0.0) for row in rows])
    lam = prove_empty([row for row, _ in whole], kinds, guess * size)
    if lam is None and len(rows) <= SMALL:
        lam = feasible([row for row, _ in whole], kinds, len(rows[0]) - 1).multipliers
    return None if lam is None else [x * scale for x, (_, scale) in zip(lam, whole, strict=True)]
