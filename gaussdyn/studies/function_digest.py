"""What a function does, in 16 hex digits: its text, and what of its module it names; comments do not count."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import pickle
import textwrap
from collections.abc import Iterator, Mapping, Set
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

DIGITS = 16
PLAIN = (type(None), bool, int, float, complex, str, bytes)


def digest_of(function: object) -> str:
    """Return 16 hex digits that change when a function is edited.

    Functions, classes and constants of its own module that it names count, too, with what they name; what it imports
    from other modules counts by its name alone.

    Parameters
    ----------
    function : callable
        A function, a method, a functools.partial or an object that can be called.
    """
    sha = hashlib.sha256()
    for part in _parts(function, "", set()):
        sha.update(part.encode() + b"\0")
    return sha.hexdigest()[:DIGITS]


def _parts(thing: Any, module: str, seen: set[int]) -> Iterator[str]:
    """Return texts that say what something is; nothing is gone through twice."""
    if isinstance(thing, PLAIN):
        yield repr(thing)
        return
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, functools.partial):
        yield from _each((thing.func, thing.args, thing.keywords), module, seen)
    elif isinstance(thing, MethodType):
        yield from _each((thing.__func__, thing.__self__), module, seen)
    elif isinstance(thing, FunctionType):
        yield from _of_function(thing, module, seen)
    elif isinstance(thing, BuiltinFunctionType):
        yield from _each((thing.__name__, thing.__self__), module, seen)
    elif isinstance(thing, type | ModuleType | np.ufunc):
        yield from _named(thing, module)
    else:
        yield from _of_value(thing, module, seen)


def _each(things: Any, module: str, seen: set[int]) -> Iterator[str]:
    for one in things:
        yield from _parts(one, module, seen)


def _named(thing: Any, module: str) -> Iterator[str]:
    """Return the name of a class, of a module or of something compiled; the text of a class of the same module."""
    yield f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', getattr(thing, '__name__', ''))}"
    if isinstance(thing, type) and (not module or thing.__module__ == module):
        yield _text(thing)


def _of_function(function: FunctionType, module: str, seen: set[int]) -> Iterator[str]:
    """Yield what a function does by: its text, defaults, closure, and the globals of its module that it names."""
    yield f"{function.__module__}.{function.__qualname__}"
    if module and function.__module__ != module:
        return
    yield _text(function)
    yield from _each((function.__defaults__, function.__kwdefaults__), function.__module__, seen)
    for cell in function.__closure__ or ():
        yield from _parts(cell.cell_contents, function.__module__, seen)
    for name in sorted(_names(function.__code__) & set(function.__globals__)):
        yield name
        yield from _parts(function.__globals__[name], function.__module__, seen)


def _of_value(thing: Any, module: str, seen: set[int]) -> Iterator[str]:
    """Return what a value holds; the order in which a set or pickle numbers things must not count."""
    yield type(thing).__qualname__
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        yield f"{thing.dtype} {thing.shape} {hashlib.sha256(np.ascontiguousarray(thing).tobytes()).hexdigest()}"
    elif isinstance(thing, Mapping):
        yield from _each(thing.items(), module, seen)
    elif isinstance(thing, tuple | list):
        yield from _each(thing, module, seen)
    elif isinstance(thing, Set):
        yield from sorted(map(repr, thing))
    else:
        yield from _named(type(thing), module)
        yield _state(thing)


def _state(thing: Any) -> str:
    try:
        return hashlib.sha256(pickle.dumps(thing, protocol=4)).hexdigest()
    except Exception:  # what cannot be sent anywhere is known by its class
        return ""


def _names(code: CodeType) -> set[str]:
    """Return the names that a function and those within it look up in their module."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _text(thing: Any) -> str:
    """Return the source without comments and layout; compiled code where there is no source."""
    try:
        source = textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError):
        return _compiled(thing.__code__) if isinstance(thing, FunctionType) else ""
    try:
        return ast.unparse(ast.parse(source))
    except SyntaxError:  # a lambda within a larger expression
        return source


def _compiled(code: CodeType) -> str:
    constants = [_compiled(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {constants}"
