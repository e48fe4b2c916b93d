"""Proofs that anyone can check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A proof as a JSON-ready document (kind, problem, claim, leaves, provenance, sha256)."""

    document: dict[str, Any]
