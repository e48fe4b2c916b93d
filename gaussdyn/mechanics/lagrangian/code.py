"""Functions generated from a model: derived and written once, kept on disk by content, compiled or interpreted."""

from __future__ import annotations

import ast
import hashlib
import math
import sys
from collections.abc import Callable
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..._cache import stored_source
from ...arrays import Array
from .model import Model

Evaluate = Callable[[float, Array, Array, Array, Array, Array], None]  # (t, q, v, u, p, out), fills out
What = Literal["dynamics", "coriolis", "curvature", "drawing"]
SIGNATURE = "void(float64, float64[::1], float64[::1], float64[::1], float64[::1], float64[::1])"
WRITERS = ("expressions.py", "equations.py", "source.py")
LONGEST = 70_000  # characters of source that compile in about 15 s of processor time; 86 000 took 24 s
NUMPY = {name.replace("a", "arc", 1): name for name in ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh")}


@cache
def _written_by() -> str:
    """Return a hash over what turns a model into source text."""
    folder, digest = Path(__file__).parent, hashlib.sha256(f"{version('sympy')} {sys.version_info[:2]}".encode())
    for name in WRITERS:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()[:8]


def stored_program(what: What, model: Model) -> Path:
    """Return the file with the source of ``evaluate``; derives and writes it if it is not in the cache.

    Raises
    ------
    InputError
        A model from which no equations of motion follow.
    """

    def write() -> str:
        """Derive with sympy."""
        from . import equations
        from .source import source

        return source(getattr(equations, what)(model))

    return stored_source(f"lagrangian_{what}_{model.digest()}_{_written_by()}", write)


@lru_cache(maxsize=256)
def interpreted(path: Path) -> Evaluate:
    """Return ``evaluate`` as a Python function: NaN and infinity as in compiled code.

    Over Python's numbers, several times faster than numpy's, and over those where these raise an error.
    """
    text = path.read_text(encoding="utf-8")
    numpys, plains = dict[str, Any](), dict[str, Any](real_power=math.pow)
    exec(compile(text, str(path), "exec"), numpys)
    exec(compile(ast.fix_missing_locations(_RealPowers().visit(ast.parse(text))), str(path), "exec"), plains)
    for name in [name for name in numpys if hasattr(np, NUMPY.get(name, name)) and name not in ("e", "pi")]:
        numpys[name] = getattr(np, NUMPY.get(name, name))
    plain, careful = plains["evaluate"], numpys["evaluate"]

    def over_numpy(t: float, q: Array, v: Array, u: Array, p: Array, out: Array) -> None:
        """Fill out."""
        with np.errstate(all="ignore"):
            careful(np.float64(t), q, v, u, p, out)

    def evaluate(t: float, q: Array, v: Array, u: Array, p: Array, out: Array) -> None:
        """Fill out."""
        values: Any = [0.0] * len(out)
        try:
            plain(float(t), *(x.tolist() for x in (q, v, u, p)), values)
            out[:] = values
        except (ArithmeticError, ValueError):  # 1 / 0, log(0), sin(inf)
            over_numpy(t, q, v, u, p, out)

    return evaluate


class _RealPowers(ast.NodeTransformer):
    """Has powers that are not whole call `math.pow`: Python makes complex numbers of those of negative ones."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Replace one."""
        self.generic_visit(node)
        exponent = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
        whole = isinstance(exponent, ast.Constant) and isinstance(exponent.value, int)
        if whole or not isinstance(node.op, ast.Pow):
            return node
        return ast.Call(ast.Name("real_power", ast.Load()), [node.left, node.right], [])


@lru_cache(maxsize=256)
def compiled(path: Path) -> Evaluate:
    """Return ``evaluate`` as machine code, from the cache if it was compiled before."""
    from ..._jit import kernel_from

    return kernel_from(path, "evaluate", SIGNATURE)


def too_long(path: Path) -> str:
    """Return why a program is better interpreted, or nothing."""
    length = path.stat().st_size
    if length <= LONGEST:
        return ""
    return f"interpreted: {length} characters of source would compile for more than 20 s (compile=True does it)"
