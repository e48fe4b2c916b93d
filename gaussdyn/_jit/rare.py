"""Kernels that others look up in their first call: until then nothing of them is compiled, or loaded from disk.

A caller that is compiled knows the types of such a kernel alone. It takes its address from a word of memory that is
zero at first, and asks Python then, which needs its lock for that but no way back: whatever happens there, the caller
goes on. Where such a kernel can be neither compiled nor loaded, its word stays zero: why goes to standard error, and an
error that names the kernel goes from caller to caller, as any that a kernel raises.
"""

from __future__ import annotations

import _thread
import ctypes
import threading
import traceback
from collections.abc import Callable
from typing import Any

from numba.core import cgutils
from numba.core.codegen import ll as llvm
from numba.core.imputils import impl_ret_new_ref

_IR: Any = cgutils.ir
_LOOK_UP = "gaussdyn.look_up"
_NOT_THERE = (
    "this kernel can be neither compiled nor loaded, for the reason written above to standard error. Mend that (room on"
    " the disk, memory, the numba that `gaussdyn doctor` asks for), and compile all kernels: gaussdyn warmup"
)


class Words:
    """The words with the addresses of one kernel, one for each signature, known to LLVM by `word_name`."""

    def __init__(self, name: str, signatures: int, find: Callable[[int], int]) -> None:
        self.words, self.find = (ctypes.c_size_t * signatures)(), find
        for number in range(signatures):
            at = ctypes.addressof(self.words) + number * ctypes.sizeof(ctypes.c_size_t)
            _WORDS[at] = self, number
            llvm.add_symbol(word_name(name, number), at)

    def fill(self, number: int) -> None:
        """Put an address there; one who presses Ctrl-C meanwhile is heard a little later."""
        pressed = False
        while not self.words[number]:
            try:
                self.words[number] = self.find(number)
            except KeyboardInterrupt:
                pressed = True
        if pressed:
            threading.Timer(0.01, _thread.interrupt_main).start()


_WORDS: dict[int, tuple[Words, int]] = {}  # by the address of the word


@ctypes.CFUNCTYPE(None, ctypes.c_size_t)  # type: ignore[untyped-decorator]
def _look_up(at: int) -> None:
    """Fill a word, for a kernel that waits for it; leave it empty, and say why, where that cannot be done."""
    words, number = _WORDS[at]
    try:
        words.fill(number)
    except Exception:
        traceback.print_exc()


llvm.add_symbol(_LOOK_UP, ctypes.cast(_look_up, ctypes.c_void_p).value)


def word_name(name: str, number: int) -> str:
    """Return what LLVM calls the word of a kernel's signature."""
    return f"{name}.word.{number}"


def called_late(name: str, number: int, kind: Any, needed: Any) -> Any:
    """Return what numba writes into a caller of a kernel, for one of its signatures; `needed` is linked to the caller.

    As `numba.core.imputils.user_function`, with an address from memory.
    """

    def call(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word_type, found = _IR.IntType(8).as_pointer(), word_name(name, number)
        word = builder.module.globals.get(found) or _IR.GlobalVariable(builder.module, word_type, found)
        with builder.if_then(cgutils.is_null(builder, builder.load(word)), likely=False):
            asks = _IR.FunctionType(_IR.VoidType(), [word.type])
            builder.call(cgutils.get_or_insert_function(builder.module, asks, _LOOK_UP), [word])
            with builder.if_then(cgutils.is_null(builder, builder.load(word)), likely=False):
                context.call_conv.return_user_exc(builder, RuntimeError, (f"{name}: {_NOT_THERE}",))
        kernel_type = context.call_conv.get_function_type(kind.return_type, kind.args)
        kernel = builder.bitcast(builder.load(word), kernel_type.as_pointer())
        status, result = context.call_conv.call_function(builder, kernel, kind.return_type, kind.args, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        return impl_ret_new_ref(context, builder, kind.return_type, result)

    call.signature, call.libs = kind.args, (needed,)  # type: ignore[attr-defined]
    return call
