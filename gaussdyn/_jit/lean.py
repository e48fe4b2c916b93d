"""Numba without what it does again and again: a third of the time to compile goes there, no kernel changes by it.

* An assignment of slices of unlike shapes raises an error with both shapes in its text. What writes them (strings) is
  compiled in every process and becomes a part of every kernel that assigns slices. A fixed text does not need it.
* The type of ``a + b`` or ``a[i]`` is found by asking all that could know, strings and lists first, for every place
  where it stands. The answer depends on the types alone, so it is kept.
* Flags of compiling are keys of dictionaries, and listed anew whenever one is compared with itself.
* An index may be negative, and is then counted from the end: code for that at every index keeps loops from becoming
  vectors. In kernels of `FORWARD` only negative numbers in their text are.
* Loops that become vectors take several of these at a time, and fewer than sixteen entries one by one; what is left
  over is written out eight times. What `FORWARD` has is shorter: one vector at a time, then one entry at a time, for
  the code of a step is several times what a core keeps at hand.
* Names in numba's own form of a kernel are listed for each of its passes, mostly of what has none; and how long locks
  are held is timed, once more for each kernel within which one is compiled.
* Machine code on disk has the code beside it that callers are linked with, which is read though none is compiled; and
  every call of LLVM is told to listeners that nobody has put there. Loading takes half the time without.

All of it holds within `lean` only, so that kernels of others in the same process are compiled as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from typing import Any

from numba.core import cgutils, event, ir, types
from numba.core.codegen import CPUCodegen, JITCodeLibrary
from numba.core.codegen import ll as llvm
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction
from numba.extending import overload
from numba.np import arrayobj

from . import lean_values

_find_type = BaseFunction.get_call_type
NAME, INTERLEAVE, UNROLL = "gaussdyn", "-force-vector-interleave", "-unroll-runtime"
FORWARD = (
    "integrate.time_stepping.core", "linalg", "mechanics.collision.vectors", "mechanics.trees", "programs.blocks",
    "programs.laws",
)  # fmt: skip
_forward = [False]  # whether loops are those of `FORWARD`, kernels that are compiled within others last
_IR: Any = cgutils.ir
_fixed_index = arrayobj.fix_integer_index
_unserialise, _start, _end = CPUCodegen.unserialize_library, event.start_event, event.end_event
_list_names = ir.Inst._rec_list_vars
_NAMELESS = (str, int, float, bool, type(None), type(abs), ir.Loc)
_found: dict[Any, Any] = {}  # (operator, types of arguments) -> signature


@contextmanager
def lean() -> Iterator[None]:
    """Compile so within."""
    with ExitStack() as stack:
        for place, name, value in _INSTEAD:
            if hasattr(place, name):
                stack.callback(setattr, place, name, getattr(place, name))
                setattr(place, name, value)
        yield


@contextmanager
def short_loops(module: str) -> Iterator[None]:
    """Compile a kernel of a module, and within it those that it calls: loops as is best there, see `FORWARD`."""
    of = module.partition(".")[2] + "."
    _forward.append(any(of.startswith(f"{one}.") for one in FORWARD))
    _set_loops()
    try:
        yield
    finally:
        _forward.pop()
        _set_loops()


def _set_loops() -> None:
    llvm.set_option(NAME, f"{INTERLEAVE}={int(_forward[-1])}")
    llvm.set_option(NAME, f"{UNROLL}={'false' if _forward[-1] else 'true'}")


def _unlike_shapes(_given: Any, _wanted: Any) -> None:
    """Raise, within a kernel."""


@overload(_unlike_shapes)  # type: ignore[untyped-decorator]
def _raise_unlike_shapes(_given: Any, _wanted: Any) -> Any:
    def unlike_shapes(_given: Any, _wanted: Any) -> None:
        raise ValueError("cannot assign to a slice from an array of another shape")

    return unlike_shapes


def _kept_type(operation: Any, context: Any, arguments: Any, named: Any) -> Any:
    """Return the signature of an operation for some types of arguments, as found before if it is an operator."""
    if named or getattr(operation.typing_key, "__module__", "") != "_operator":
        return _find_type(operation, context, arguments, named)
    key = operation, arguments
    if key not in _found:
        _found[key] = _find_type(operation, context, arguments, named)
    return _found[key]


def _values(flags: Any) -> dict[str, Any]:
    """Return all options with their values, or defaults."""
    given = flags._values
    return {name: given.get(name, option.default) for name, option in flags.options.items()}


def _hash(flags: Any) -> int:
    """Return what numba's own returns: the same for all of a kind."""
    kind: Any = type(flags)
    return _hash_of(kind)


@cache
def _hash_of(kind: Any) -> int:
    return hash(tuple(sorted(kind.options)))


def _equal(flags: Any, other: Any) -> Any:
    if flags is other:
        return True
    return _values(flags) == _values(other) if isinstance(other, TargetConfig) else NotImplemented


class _FromDisk(JITCodeLibrary):  # type: ignore[misc]
    """Machine code from disk; what callers are linked with is read when one of them is compiled."""

    _shared_module: Any

    def __init__(self, codegen: Any, name: str, machine_code: bytes, bitcode: bytes) -> None:
        super().__init__(codegen, name)
        self._bitcode = bitcode
        self.enable_object_caching()
        self._set_compiled_object(machine_code)
        self._finalize_final_module()

    def get_pointer_to_function(self, name: str) -> Any:
        """Return the address of a function, 0 if there is none."""
        return self._codegen._engine.get_function_address(name)

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = llvm.parse_bitcode(self._bitcode)
        return self._shared_module


def _unserialised(codegen: Any, serialised: Any) -> Any:
    name, kind, data = serialised
    return _FromDisk(codegen, name, *data) if kind == "object" else _unserialise(codegen, serialised)


def _start_event(kind: str, data: Any = None) -> None:
    if event._registered[kind]:
        _start(kind, data)


def _end_event(kind: str, data: Any = None, exc_details: Any = None) -> None:
    if event._registered[kind]:
        _end(kind, data, exc_details)


def _untimed(_kind: str, _told: Any) -> AbstractContextManager[None]:
    return nullcontext()


def _names(node: Any, value: Any) -> Any:
    """Return the variables in a part of an instruction; numba's own asks of each of its parts all that it may be."""
    kind = type(value)
    if kind is ir.Var:
        return [value]
    if kind in _NAMELESS:
        return []
    if kind is dict:
        value = value.values()
    elif kind is not list and kind is not tuple:
        return _list_names(node, value)
    found = list[Any]()
    for part in value:
        if type(part) is ir.Var:
            found.append(part)
        elif type(part) not in _NAMELESS:
            found += _names(node, part)
    return found


def _index(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """Return an index as it stands; only a negative number in the text of a kernel is counted from the end.

    Numba looks at every index whether it is negative, and loops with such a look in them do not become vectors.
    """
    number = _number(index)
    if not _forward[-1] or not kind.signed or (number is not None and number < 0):
        return _fixed_index(context, builder, kind, index, size)
    return context.cast(builder, index, kind, types.intp)


def _number(value: Any) -> int | None:
    """Return the number that a value of LLVM is, None if that is not known; entries of tuples are traced back."""
    while isinstance(value, _IR.instructions.ExtractValue):
        at, value = list(value.indices), value.operands[0]
        while isinstance(value, _IR.instructions.InsertValue) and list(value.indices) != at:
            value = value.operands[0]
        if not isinstance(value, _IR.instructions.InsertValue):
            return None
        value = value.operands[1]
    known = isinstance(value, _IR.Constant) and isinstance(value.constant, int)
    return value.constant if known else None


_INSTEAD = (
    (arrayobj, "fix_integer_index", _index),
    (CPUCodegen, "unserialize_library", _unserialised),
    (event, "start_event", _start_event),
    (event, "end_event", _end_event),
    (event, "install_timer", _untimed),
    (ir.Inst, "_rec_list_vars", _names),
    (arrayobj, "raise_with_shape_context", _unlike_shapes),
    (BaseFunction, "get_call_type", _kept_type),
    (TargetConfig, "values", _values),
    (TargetConfig, "__hash__", _hash),
    (TargetConfig, "__eq__", _equal),
    *(lean_values.INSTEAD if lean_values.KNOWN else ()),
)
