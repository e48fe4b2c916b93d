"""What `lean` puts in place of numba's ways with values: LLVM is given less text, results keep their bits.

* Numba looks into an array through a copy of it in memory, cleared and filled for every entry that is read or written:
  thirty instructions that LLVM takes out again. A field is taken from the value itself here, and the place of an entry
  is counted without factors of one.
* What was just put into a tuple or an array's value is taken out again, as an instruction.
* Every variable is loaded and cleared where it is written or no longer needed, so that references are counted down;
  all fields of all that it holds are taken out for it, numbers too. Only arrays are counted.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from numba.core import cgutils, types
from numba.core.datamodel import default_manager
from numba.core.lowering import Lower
from numba.core.runtime.context import NRTContext
from numba.np import arrayobj

_IR: Any = cgutils.ir
_make_array, _basic_indexing, _make_view = arrayobj.make_array, arrayobj.basic_indexing, arrayobj.make_view
_extract = _IR.IRBuilder.extract_value
_store_variable, _delete_variable = Lower.storevar, Lower.delvar
_FIELDS = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")  # in the order of numba's model


class _Seen:
    """An array whose fields are read; numba's copy in memory is made, where this was, for what is no field of it."""

    _copy: Any

    def __init__(self, made: Any, context: Any, builder: Any, value: Any) -> None:
        self._made, self._context, self._builder, self._array = made, context, builder, value
        self._block, self._copy = builder.block, None

    def __getattr__(self, name: str) -> Any:
        if self._copy is None and name in _FIELDS:
            return self._builder.extract_value(self._array, _FIELDS.index(name))
        return getattr(self._whole(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            setattr(self._whole(), name, value)

    def _getvalue(self) -> Any:
        return self._array if self._copy is None else self._copy._getvalue()

    def _whole(self) -> Any:
        if self._copy is None:
            place = cgutils.alloca_once(self._builder, self._array.type)
            with self._builder.goto_block(self._block):
                self._builder.store(self._array, place)
            self._copy = self._made(self._context, self._builder, ref=place)
        return self._copy


def _seen_array(kind: Any) -> Any:
    """Return what numba's `make_array` returns: what makes arrays of a type, or looks into them."""
    made = _make_array(kind)
    if type(kind) is not types.Array or kind.ndim == 0:
        return made

    def look(context: Any, builder: Any, value: Any = None, ref: Any = None) -> Any:
        return made(context, builder, ref=ref) if value is None else _Seen(made, context, builder, value)

    return look


def _indexed(
    context: Any, builder: Any, kind: Any, array: Any, index_types: Any, indices: Any, boundscheck: Any = None
) -> Any:
    """Return the place of an entry, without the shape and strides of a view; for all else numba's own."""
    entry = len(indices) == kind.ndim and all(isinstance(one, types.Integer) for one in index_types)
    if not entry or kind.layout != "C" or boundscheck or not isinstance(array, _Seen):
        return _basic_indexing(context, builder, kind, array, index_types, indices, boundscheck=boundscheck)
    shape, place = array.shape, None
    for axis, (one, index) in enumerate(zip(index_types, indices, strict=True)):
        size = builder.extract_value(shape, axis)
        at = arrayobj.fix_integer_index(context, builder, one, index, size)
        place = at if place is None else builder.add(builder.mul(place, size), at)
    return builder.gep(array.data, [place]), [], []


def _view(
    context: Any, builder: Any, kind: Any, array: Any, return_type: Any, data: Any, shapes: Any, strides: Any
) -> Any:
    """Return a view of an array."""
    if type(return_type) is not types.Array or not shapes:
        return _make_view(context, builder, kind, array, return_type, data, shapes, strides)
    items = context.get_constant(types.intp, 1)
    for size in shapes:
        items = builder.mul(items, size, flags=["nsw"])
    value = _IR.Constant(context.get_value_type(return_type), _IR.Undefined)
    packed = (cgutils.pack_array(builder, one, items.type) for one in (shapes, strides))
    for place, field in enumerate((array.meminfo, array.parent, items, array.itemsize, data, *packed)):
        value = builder.insert_value(value, field, place)
    return _Seen(_make_array(return_type), context, builder, value)


def _extracted(builder: Any, value: Any, index: Any, name: str = "") -> Any:
    """Return an entry of a value of LLVM: what was put there, if that is known."""
    at = list(index) if isinstance(index, tuple | list) else [index]
    while isinstance(value, _IR.instructions.InsertValue):
        put = list(value.indices)
        if put == at:
            return value.operands[1]
        if all(one == other for one, other in zip(put, at, strict=False)):
            break  # a part of it, or what it is a part of
        value = value.operands[0]
    return _extract(builder, value, at, name)


@cache
def _counted(models: Any, kind: Any) -> bool:
    """Return whether there are arrays in values of a type, references to which are counted."""
    return bool(models[kind].contains_nrt_meminfo())


def _counted_parts(nrt: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return type and counter of the arrays in a value."""
    models = nrt._context.data_model_manager
    if not _counted(models, kind):
        return []
    model = models[kind]
    found = [(kind, model.get_nrt_meminfo(builder, value))] if model.has_nrt_meminfo() else []
    for part, take in model.traverse(builder):
        if _counted(models, part):
            found += _counted_parts(nrt, builder, part, take(value))
    return found


def _stored(lower: Any, value: Any, name: str, argidx: Any = None) -> None:
    """Write a variable; what stood there is looked at if it was counted."""
    kind = lower.typeof(name)
    if argidx is not None or name in lower._singly_assigned_vars or _is_counted(lower, kind):
        _store_variable(lower, value, name, argidx)
    else:
        lower.builder.store(value, lower.getvar(name))


def _deleted(lower: Any, name: str) -> None:
    """Leave a variable, which is cleared if it was counted."""
    if name in lower._blk_local_varmap or _is_counted(lower, lower.typeof(name)):
        _delete_variable(lower, name)
    else:
        lower._singly_assigned_vars.discard(name)


def _is_counted(lower: Any, kind: Any) -> bool:
    models = lower.context.data_model_manager
    return lower._disable_sroa_like_opt or (lower.context.enable_nrt and _counted(models, kind))


KNOWN = default_manager[types.Array(types.float64, 1, "C")]._fields == _FIELDS  # else numba's own ways stay
INSTEAD = (
    (arrayobj, "make_array", _seen_array),
    (arrayobj, "basic_indexing", _indexed),
    (arrayobj, "make_view", _view),
    (_IR.IRBuilder, "extract_value", _extracted),
    (NRTContext, "get_meminfos", _counted_parts),
    (Lower, "storevar", _stored),
    (Lower, "delvar", _deleted),
)
