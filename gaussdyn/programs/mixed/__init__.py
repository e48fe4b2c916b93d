"""Mixed complementarity problems: equalities taken out by pivots, what remains solved as blocks, and proofs of none."""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..._lazy import on_demand as _on_demand

if _TYPE_CHECKING:
    from ..problems.mixed import Box as Box
    from ..problems.mixed import Equality as Equality
    from ..problems.mixed import MixedComplementarity as MixedComplementarity

__all__ = ["Box", "Equality", "MixedComplementarity"]

__getattr__, __dir__ = _on_demand(__name__, {".problems.mixed": ("Box", "Equality", "MixedComplementarity")})
