"""Records: named tuples of arrays and numbers that kernels take as one pointer.

Passed by value a record of fifty arrays becomes hundreds of arguments, and minutes of compiling. A kernel gets the
address of a block of words, one field after the other as numba lays out a named tuple, and reads what it uses; a field
that is a record is again an address, or the record itself where that goes by value. Fields cannot be assigned; entries
of arrays can.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, register_model, unbox

R = TypeVar("R", bound=tuple[Any, ...])
_IR: Any = cgutils.ir
types: Any = numba_types
RECORDS: dict[str, Any] = {}  # what signatures call records -> their types
_TUPLES: dict[str, Any] = {}  # their named tuples
_BLANK: dict[type, tuple[Any, list[int]]] = {}  # by class: the record of nothing, and its words


def record(*fields: str, by_value: bool = False) -> Callable[[type[R]], type[R]]:
    """Make a named tuple known to the signatures of kernels, by its own name; its fields are of these numba types.

    Kernels are handed its address (`Held`), or by value, which is for a few numbers, arrays or addresses of others.
    """

    def known(cls: type[R]) -> type[R]:
        of = [eval(field, vars(types) | (RECORDS if by_value else _TUPLES)) for field in fields]
        assert len(of) == len(cls._fields)  # type: ignore[attr-defined]
        same = all(one == of[0] for one in of)
        kind = types.NamedUniTuple(of[0], len(of), cls) if same else types.NamedTuple(of, cls)
        _TUPLES[cls.__name__], RECORDS[cls.__name__] = kind, kind if by_value else Reference(kind)
        return cls

    return known


def nothing(cls: type[R]) -> R:
    """Return a record of empty arrays and zeros: always the same one, there is nothing in it to write on."""
    made: R = _nothing(_TUPLES[cls.__name__])
    return made


@cache
def _nothing(kind: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        made = kind.instance_class._make([_nothing(part) for part in kind.types])
        _BLANK[kind.instance_class] = made, _words(made)
        return made
    if isinstance(kind, types.Array):
        return np.zeros((0,) * kind.ndim, dtype=str(kind.dtype))
    return 0


class Reference(numba_types.Type):
    """The address of a named tuple."""

    def __init__(self, of: Any) -> None:
        self.of = of
        super().__init__(name=f"Reference({of})")


class Held:
    """A record in memory, as kernels take it.

    Attributes
    ----------
    value : named tuple
        Its arrays, which kernels read and write.
    address : int
    """

    __slots__ = ("_numba_type_", "address", "value", "words")  # by this name numba asks for a type, without Python

    def __init__(self, value: Any) -> None:
        self.value, self.words = value, np.array(_words(value), dtype=np.int64)
        self._numba_type_, self.address = RECORDS[type(value).__name__], int(self.words.ctypes.data)
        assert self.address == _address_of(self.words)

    def __getattr__(self, name: str) -> Any:
        """Return a field, as a kernel that runs as plain Python reads it."""
        if name in Held.__slots__:  # not made yet: it is being copied
            raise AttributeError(name)
        return getattr(self.value, name)

    def __reduce__(self) -> tuple[type[Held], tuple[Any]]:
        """Return how a copy is made: at an address of its own."""
        return Held, (self.value,)

    def renew(self, value: Any) -> None:
        """Hold another record of the same kind, in the same place; soon done where most of its arrays are the same."""
        _renew(self.words, 0, self.value, value)
        self.value = value


def _address_of(array: Any) -> int:
    """Return where the entries of an array are: numpy keeps that right behind what all objects of Python begin with.

    ``array.ctypes.data`` says the same and takes twenty times as long, which tells where graphs change in every step.
    """
    return ctypes.c_ssize_t.from_address(id(array) + object.__basicsize__).value


def _words(value: Any) -> list[int]:
    """Return a record as words: of an array no owner, size, size of an entry, address, shape, strides."""
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return [0, 0, value.size, value.itemsize, _address_of(value), *value.shape, *value.strides]
    if isinstance(value, tuple):
        blank = _BLANK.get(type(value))
        if blank is not None and value is blank[0]:
            return blank[1]
        return [word for part in value for word in _words(part)]
    return [int(value)]


def _renew(words: Any, at: int, before: Any, value: Any) -> int:
    """Put the words of what is not the same as before, from a place on; return where the next ones stand."""
    if isinstance(value, tuple):
        for old, new in zip(before, value, strict=True):
            at = _renew(words, at, old, new)
        return at
    size = 5 + 2 * value.ndim if isinstance(value, np.ndarray) else 1
    if value is not before:
        words[at : at + size] = _words(value)
    return at + size


@register_model(Reference)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _IR.IntType(8).as_pointer())


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:
        """Return the type of a field."""
        if name not in reference.of.fields:
            return None
        kind = reference.of.types[reference.of.fields.index(name)]
        return RECORDS[kind.instance_class.__name__] if isinstance(kind, types.BaseTuple) else kind


@lower_getattr_generic(Reference)  # type: ignore[untyped-decorator]
def _field(context: Any, builder: Any, reference: Any, value: Any, name: str) -> Any:
    """Read a field."""
    index = reference.of.fields.index(name)
    kind = reference.of.types[index]
    struct = builder.bitcast(value, context.get_value_type(reference.of).as_pointer())
    zero, at = _IR.Constant(_IR.IntType(32), 0), _IR.Constant(_IR.IntType(32), index)
    place = builder.gep(struct, [zero, at], inbounds=True)
    if isinstance(kind, types.BaseTuple) and isinstance(RECORDS[kind.instance_class.__name__], Reference):
        return builder.bitcast(place, _IR.IntType(8).as_pointer())
    return impl_ret_borrowed(context, builder, kind, _read(context, builder, kind, place))


def _read(context: Any, builder: Any, kind: Any, place: Any) -> Any:
    """Read what is at a place, number by number, so that what is not used is not read.

    No kernel writes there: what was read holds whatever goes into arrays since, and is not read again.
    """
    return _read_value(builder, context.get_value_type(kind), place)


def _read_value(builder: Any, value_type: Any, place: Any) -> Any:
    """Read a value of a type of LLVM."""
    if isinstance(value_type, _IR.LiteralStructType):
        parts = list(value_type.elements)
    elif isinstance(value_type, _IR.ArrayType):
        parts = [value_type.element] * value_type.count
    else:
        number = builder.load(place)
        number.set_metadata("invariant.load", builder.module.add_metadata([]))
        return number
    zero, found = _IR.Constant(_IR.IntType(32), 0), _IR.Constant(value_type, _IR.Undefined)
    for k, part in enumerate(parts):
        at = builder.gep(place, [zero, _IR.Constant(_IR.IntType(32), k)], inbounds=True)
        found = builder.insert_value(found, _read_value(builder, part, at), k)
    return found


@unbox(Reference)  # type: ignore[untyped-decorator]
def _address(kind: Any, value: Any, context: Any) -> Any:
    """Take the address out of a `Held`."""
    number = context.pyapi.object_getattr_string(value, "address")
    address = context.pyapi.long_as_voidptr(number)
    context.pyapi.decref(number)
    return NativeValue(address)
