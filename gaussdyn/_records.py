"""Records: named tuples of arrays and numbers that kernels take as one pointer.

Passed by value a record of fifty arrays becomes hundreds of arguments, and minutes of compiling. A kernel gets the
address of a block of words, one field after the other as numba lays out a named tuple, and reads what it uses; a field
that is a record is again an address. Fields cannot be assigned; entries of arrays can.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.datamodel import models
from numba.core.imputils import impl_ret_borrowed, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, register_model, typeof_impl, unbox

R = TypeVar("R", bound=tuple[Any, ...])
_IR: Any = cgutils.ir
types: Any = numba_types
RECORDS: dict[str, Any] = {}  # what signatures call records -> their types
_TUPLES: dict[str, Any] = {}  # their named tuples


def record(*fields: str, by_value: bool = False) -> Callable[[type[R]], type[R]]:
    """Make a named tuple known to the signatures of kernels, by its own name; its fields are of these numba types.

    Kernels are handed its address (`Held`), or by value, which is for a few numbers.
    """

    def known(cls: type[R]) -> type[R]:
        of = [eval(field, vars(types) | _TUPLES) for field in fields]
        assert len(of) == len(cls._fields)  # type: ignore[attr-defined]
        same = all(one == of[0] for one in of)
        kind = types.NamedUniTuple(of[0], len(of), cls) if same else types.NamedTuple(of, cls)
        _TUPLES[cls.__name__], RECORDS[cls.__name__] = kind, kind if by_value else Reference(kind)
        return cls

    return known


def nothing(cls: type[R]) -> R:
    """Return a record of empty arrays and zeros."""
    made: R = _nothing(_TUPLES[cls.__name__])
    return made


def _nothing(kind: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        return kind.instance_class._make([_nothing(part) for part in kind.types])
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

    __slots__ = ("address", "kind", "value", "words")

    def __init__(self, value: Any) -> None:
        self.value, self.words = value, np.array(_words(value), dtype=np.int64)
        self.kind, self.address = RECORDS[type(value).__name__], int(self.words.ctypes.data)


def _words(value: Any) -> list[int]:
    """Return a record as words: of an array no owner, size, size of an entry, address, shape, strides."""
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
    if isinstance(value, tuple):
        return [word for part in value for word in _words(part)]
    return [int(value)]


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
        return Reference(kind) if isinstance(kind, types.BaseTuple) else kind


@lower_getattr_generic(Reference)  # type: ignore[untyped-decorator]
def _field(context: Any, builder: Any, reference: Any, value: Any, name: str) -> Any:
    """Read a field."""
    index = reference.of.fields.index(name)
    kind = reference.of.types[index]
    struct = builder.bitcast(value, context.get_value_type(reference.of).as_pointer())
    zero, at = _IR.Constant(_IR.IntType(32), 0), _IR.Constant(_IR.IntType(32), index)
    place = builder.gep(struct, [zero, at], inbounds=True)
    if isinstance(kind, types.BaseTuple):
        return builder.bitcast(place, _IR.IntType(8).as_pointer())
    return impl_ret_borrowed(context, builder, kind, builder.load(place))


@typeof_impl.register(Held)  # type: ignore[untyped-decorator]
def _typeof(value: Held, context: Any) -> Any:
    return value.kind


@unbox(Reference)  # type: ignore[untyped-decorator]
def _address(kind: Any, value: Any, context: Any) -> Any:
    """Take the address out of a `Held`."""
    number = context.pyapi.object_getattr_string(value, "address")
    address = context.pyapi.long_as_voidptr(number)
    context.pyapi.decref(number)
    return NativeValue(address)
