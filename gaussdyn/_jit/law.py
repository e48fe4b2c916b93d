"""Functions of users that numba compiles, in the process that asks: not kept on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from ..errors import InputError

MEND = "Numba compiles numbers, arrays, loops, functions of math and numpy: u[:] = -2.0 * v."


def compiled_law(function: Callable[..., Any], signature: str) -> tuple[Callable[..., Any], int]:
    """Return a function of five arguments compiled for one signature, and the address of its machine code.

    What it raises is raised where Python calls it; called by its address it leaves NaN in its last argument then.

    Raises
    ------
    InputError
        Numba cannot compile it: why.
    """
    law: Any = function if hasattr(function, "py_func") else numba.njit(error_model="numpy")(function)

    def guarded(t: float, q: Any, v: Any, p: Any, u: Any) -> None:
        try:
            law(t, q, v, p, u)
        except Exception:
            u[:] = np.nan

    try:
        law.compile(signature)
        made = numba.njit(signature, error_model="numpy", nogil=True)(guarded)
    except numba.core.errors.NumbaError as error:
        said = " ".join(str(error).split())
        name = getattr(function, "__name__", "law")
        raise InputError(name, said, "a law(t, q, v, p, u) that numba compiles", MEND) from None
    (found,) = made.overloads.values()
    return law, int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))
