"""Compiled kernels, kept on disk (see `_cache`).

Numba compiles a kernel together with all that it calls, so that LLVM could inline it; what is large LLVM does not
inline, but optimises and translates once more in every caller, and in the callers of those. Large kernels (`APART`) are
therefore called by their address, under a name of their own: a caller declares it, and has it loaded before itself.
Only kernels that Python calls (``entry``) get what takes numbers and arrays out of Python's objects. What few runs come
to (``rare``) is compiled, or loaded, when it is called first, wherever that is (`rare`).
"""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from inspect import signature as parameters_of
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numba
from numba.core import caching, cgutils, config, event, typeinfer
from numba.core import types as numba_types
from numba.core.codegen import ll as llvm
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typing.templates import make_concrete_template
from numba.extending import intrinsic

from .._cache import NEEDED, THROUGH, kernel_directory, machine_code, reason, say
from .lean import lean, short_loops
from .rare import Words, called_late
from .record_types import RECORDS

F = TypeVar("F", bound=Callable[..., Any])
_IR: Any = cgutils.ir
types: Any = numba_types
APART = 20_000  # bytes of LLVM's code, with all that is linked to it: from there on called by address


class _Build(event.Listener):  # type: ignore[misc]
    """Announces the first kernel that is really compiled (not loaded from disk), and counts them all."""

    def __init__(self) -> None:
        self.compiled, self.seconds, self.begun = 0, 0.0, False
        self.unkept = ""  # why machine code cannot be kept
        self.lock = threading.RLock()

    def on_start(self, event: Any) -> None:
        """Count one more compilation; say so before the first."""
        if not self.compiled:
            say("gaussdyn: compiling kernels as they are needed, once (`gaussdyn warmup` does all, with all cores) ...")
        self.compiled += 1

    def on_end(self, event: Any) -> None:
        """Nothing to do."""

    def not_kept(self, error: Exception) -> None:
        """Say, once, that machine code cannot be kept on disk: the work goes on without."""
        if not self.unkept:
            self.unkept = f"compiled kernels cannot be kept in {kernel_directory()} ({reason(error)})"
            mend = f"Make room ({NEEDED}), or set GAUSSDYN_CACHE to a folder with room."
            say(f"gaussdyn: {self.unkept}: every process compiles them again. {mend}")


_build = _Build()


def build_statistics() -> dict[str, Any]:
    """Return ``compile_s`` (seconds spent compiling and loading kernels here) and ``compiled`` (how many)."""
    return {"compile_s": _build.seconds, "compiled": _build.compiled}


def unkept() -> str:
    """Return why this process could not keep machine code on disk; empty if it could."""
    return _build.unkept


def kernel(
    signature: str | list[str], *, inline: bool = False, borrows: bool = False, entry: bool = False, rare: bool = False
) -> Callable[[F], F]:
    """Compile a function for fixed argument types, caching the machine code on disk.

    In packages of `lean.FORWARD` only negative numbers in its text count from the end of an array, not indices
    that turn out negative.

    Parameters
    ----------
    signature : str or list of str
        Numba type strings, e.g. ``"float64(float64[::1], float64[:,::1])"``: the function is compiled, or its machine
        code taken from disk, when it is called first, or a caller of it is compiled.
    inline : bool
        Inline into callers (for a few lines only).
    borrows : bool
        The function neither makes nor returns arrays, so that numba need not count references: slices of its
        arguments then cost nothing (counting them can take longer than the work).
    entry : bool
        Python calls it. Others can be called from there, too, by tests: what is missing is made then, and kept.
    rare : bool
        Few runs call it: its callers are compiled without it, and look it up in their first call. For what is large,
        or leads to much: LLVM does not see into it from its callers, and each call looks at a word in memory first.
    """
    options: dict[str, Any] = {"error_model": "numpy", "nogil": True, "boundscheck": False}
    options["inline"] = "always" if inline else "never"
    options |= {"no_cfunc_wrapper": True, "no_cpython_wrapper": not entry}
    signatures = [signature] if isinstance(signature, str) else signature
    options["_nrt"] = not borrows  # always said: else a kernel has what the one has within which it is compiled first

    def _compile(function: F) -> F:
        with _building():
            jitted: F = _compiled(function, signatures, options, _Rare if rare else _Waiting)
            return jitted

    return _compile


@contextmanager
def _building() -> Iterator[None]:
    """Compile or load, one thread at a time: counted, announced, and kept in our place on disk."""
    if _build.lock._is_owned():  # type: ignore[attr-defined]  # within a caller that is compiled
        yield
        return
    with _build.lock, lean(), event.install_listener("numba:compile", _build):
        start, collecting = time.perf_counter(), gc.isenabled()
        gc.disable()  # looking for waste takes a tenth of the time, and finds next to nothing
        try:
            yield
        finally:
            _build.seconds += time.perf_counter() - start
            if collecting:
                gc.enable()


def _compiled(function: Any, signatures: list[str], options: dict[str, Any], kind: type[_Waiting]) -> Any:
    """Do what ``numba.njit(signatures, cache=True)`` does late, also where nothing can be kept or files are damaged."""
    if config.DISABLE_JIT:  # to debug, or to import everything quickly
        return function
    jitted = numba.njit(**options)(function)
    jitted._cache = _Kept(function)
    KERNELS[_name(jitted)] = kind(jitted, signatures)
    return jitted


class _Waiting:
    """A kernel before its machine code is there: it comes when the kernel is called, or a caller of it is compiled.

    A process calls few kernels from Python, and the code of small ones that they call in turn is in theirs.
    """

    def __init__(self, jitted: Any, signatures: list[str]) -> None:
        self.jitted, self.signatures, self.taken = jitted, signatures, False
        self.entry = not jitted.targetoptions["no_cpython_wrapper"]
        jitted._compile_for_args, jitted.get_call_template, jitted._waiting = self.called, self.typed, self

    def on_disk(self) -> bool:
        """Return whether there is an index of its machine code, which a look at this source's place tells."""
        return os.path.exists(self.jitted._cache._cache_file._index_path)

    def parts(self) -> set[str]:
        """Return the kernels that it is compiled with, or calls by address."""
        function = self.jitted.py_func
        used = (function.__globals__.get(name) for name in function.__code__.co_names)
        known = (getattr(one, "_waiting", None) for one in used)
        return {_name(one.jitted) for one in known if one is not None and not isinstance(one, _Rare)}

    @cached_property
    def kinds(self) -> list[Any]:
        """Types of arguments and of what is returned, for each signature."""
        return [eval(one, vars(types) | RECORDS) for one in self.signatures]

    def load(self) -> None:
        """Load the machine code, unless another thread was first."""
        with _building():
            if not self.taken:
                self.take()

    def take(self) -> None:
        """Take the machine code from disk, or compile it."""
        jitted = self.jitted
        del jitted.get_call_template  # it may call itself
        if not self.entry:
            jitted.add_overload = self.add_inner
        with typeinfer.register_dispatcher(jitted), global_compiler_lock:
            for kind in self.kinds:
                if not self.read(kind):
                    self.compile(kind)
        for found in self.found():  # what comes from disk has told numba its needs, and its callers have them too
            found.library._reload_init.update(found.reload_init)
        self.taken, jitted.get_call_template = True, self.linked
        if self.entry:
            jitted.disable_compile()
            del jitted._compile_for_args  # until now other threads wait there
        else:
            jitted.compile = lambda _kind: None  # types are those of the signatures

    def compile(self, kind: Any) -> None:
        """Compile it, and keep it on disk."""
        with short_loops(self.jitted.py_func.__module__):
            self.jitted.compile(kind)

    def read(self, kind: Any) -> bool:
        """Take machine code from disk. Numba's own way times every call of LLVM, once more within each caller."""
        found = self.jitted._cache.load_overload(kind, self.jitted.targetctx)
        if found is not None:
            self.jitted.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
            self.jitted.add_overload(found)
        return found is not None

    def add_inner(self, found: Any) -> None:
        """Keep what was compiled where callers look for it, and not where a call from Python would jump to."""
        self.jitted.overloads[tuple(found.signature.args)] = found

    def called(self, *_arguments: Any, **_named: Any) -> Any:
        """Return what numba shall call in its first call."""
        self.load()
        if not self.entry:
            self.enter()
        return self.jitted

    def enter(self) -> None:
        """Make what Python's calls go through, for a kernel that is not for them."""
        jitted = self.jitted
        with _build.lock:
            if not jitted._can_compile:
                return
            made = jitted._through = self.through()  # numba does not hold it
            for found in made.overloads.values():
                jitted._insert([kind._code for kind in found.signature.args], found.entry_point, False)
            jitted.disable_compile()

    def through(self) -> Any:
        """Return an entry that calls it, kept on disk beside it under a name of its own."""
        of, options = self.jitted.py_func, self.jitted.targetoptions
        names = ", ".join(parameters_of(of).parameters)
        code = compile(f"lambda {names}: inner({names})", of.__code__.co_filename, "eval")
        function = eval(code, {"inner": self.jitted, "__name__": of.__module__})
        function.__qualname__ = f"{of.__qualname__}{THROUGH}"
        made = numba.njit(nogil=True, **{name: value for name, value in options.items() if name == "_nrt"})(function)
        made._cache = _Kept(function)
        with lean():
            for kind in self.kinds:
                made.compile(kind)
        return made

    def typed(self, *arguments: Any) -> Any:
        """Return how a caller that is compiled calls it."""
        self.load()
        return self.jitted.get_call_template(*arguments)

    def linked(self, *arguments: Any) -> Any:
        """Return the same, once it is settled whether its code becomes a part of its callers."""
        del self.jitted.get_call_template
        if any(len(found.library._get_module_for_linking().as_bitcode()) > APART for found in self.found()):
            self.set_apart()
        return self.jitted.get_call_template(*arguments)

    def set_apart(self) -> None:
        """Have callers call it by address."""
        target, needed = self.jitted.targetctx, _Needed(_name(self.jitted))
        needed()
        for number, found in enumerate(self.found()):
            declared = copy(found.fndesc)
            declared.mangled_name = f"{needed.name}.{number}"
            target.remove_user_function(found.entry_point)
            target.insert_user_function(found.entry_point, declared, [_Declared(needed)])

    def name_addresses(self) -> None:
        """Load it, and tell LLVM where it is."""
        self.load()
        for number, found in enumerate(self.found()):
            address = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
            llvm.add_symbol(f"{_name(self.jitted)}.{number}", address)

    def found(self) -> Any:
        """Return what was compiled, one for each signature."""
        return self.jitted.overloads.values()


class _Rare(_Waiting):
    """A kernel that its callers look up in their first call."""

    words: Words | None = None

    def take(self) -> None:
        """Take the machine code from disk, or compile it; callers do without as before."""
        super().take()
        self.jitted.get_call_template = self.typed

    def typed(self, arguments: Any, named: Any) -> Any:
        """Return how a caller that is compiled calls it: by its signatures alone."""
        jitted, needed = self.jitted, _Word(_name(self.jitted))
        if jitted.get_overload != self.key:
            jitted.get_overload = self.key
            for number, kind in enumerate(self.kinds):
                call = called_late(needed.name, number, kind, _Declared(needed))
                jitted.targetctx._defns[self.key(kind.args)].append(call, kind.args)
        needed()
        folded, given = jitted._compiler.fold_argument_types(arguments, named)
        return make_concrete_template(needed.name, needed.name, self.kinds), folded, given, {}

    def key(self, kinds: Any) -> Any:
        """Return by what numba finds how to call it."""
        return self, tuple(kinds)

    def name_words(self) -> None:
        """Have places for its addresses."""
        self.words = self.words or Words(_name(self.jitted), len(self.signatures), self.find)

    def find(self, number: int) -> int:
        """Return the address of what was compiled for one signature."""
        self.load()
        found = self.jitted.overloads[tuple(self.kinds[number].args)]
        return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


KERNELS: dict[str, _Waiting] = {}  # by module and name


def _name(jitted: Any) -> str:
    return f"{jitted.py_func.__module__}.{jitted.py_func.__qualname__}"


class _Needed(NamedTuple):
    """A kernel that others call by address: on disk with them, and called before they are loaded."""

    name: str

    def __call__(self) -> None:
        """Have it in memory, its address known."""
        KERNELS[self.name].name_addresses()


class _Word(NamedTuple):
    """A rare kernel: on disk with its callers, and called before they are loaded."""

    name: str

    def __call__(self) -> None:
        """Have a place for its address."""
        cast(_Rare, KERNELS[self.name]).name_words()


class _Declared:
    """What numba links to callers of a kernel that is called by address: nothing, but the note that it is needed."""

    empty: Any = None

    def __init__(self, needed: _Needed | _Word) -> None:
        self._reload_init = {needed}

    def _ensure_finalized(self) -> None:
        """Numba asks for this first."""

    def _get_module_for_linking(self) -> Any:
        _Declared.empty = _Declared.empty or llvm.parse_assembly("")
        return _Declared.empty


def loaded(compiled: Any) -> Any:
    """Return a kernel with its machine code in memory."""
    if not compiled._waiting.taken:
        compiled._waiting.load()
    return compiled


class _Place(caching._CacheLocator):  # type: ignore[misc]
    """Where the machine code of one kernel is kept: in a folder named by all that it is made of."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file, self.line = file, function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Any, file: str) -> _Place:
        """Return the place of a function in a file."""
        return cls(function, file)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(machine_code(Path(self._py_file)))

    def get_source_stamp(self) -> str:
        """Return what tells whether it is stale: nothing, for the folder has another name then."""
        return ""

    def get_disambiguator(self) -> str:
        """Return what tells kernels of one name apart."""
        return str(self.line)


class _InPlace(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = (_Place,)


class _Kept(caching.FunctionCache):  # type: ignore[misc]
    """Machine code of one kernel on disk: what cannot be read is compiled again, what cannot be written is not kept."""

    _impl_class = _InPlace

    def load_overload(self, kind: Any, target: Any) -> Any:
        """Return the machine code, None if it is not there or damaged."""
        try:
            if not _build.begun:  # numba does it for each
                _build.begun = True
                target.refresh()
            return self._load_overload(kind, target)
        except Exception as error:
            say(f"gaussdyn: a compiled kernel in {kernel_directory()} is damaged ({reason(error)}); compiled again")
            try:
                self.flush()
            except OSError as full:
                _build.not_kept(full)
            return None

    def save_overload(self, *arguments: Any) -> None:
        """Keep the machine code if there is room."""
        try:
            super().save_overload(*arguments)
        except OSError as error:
            _build.not_kept(error)


def kernel_from(path: Path, name: str, signature: str) -> Callable[..., Any]:
    """Compile one function of a generated file for fixed argument types; its machine code is kept beside the file."""
    module_name = f"gaussdyn_generated_{path.stem}"
    with _build.lock:
        module = sys.modules.get(module_name)
        if module is None:
            spec = importlib.util.spec_from_file_location(module_name, path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules[module_name] = module  # where numba looks for it when it loads the machine code
    made: Callable[..., Any] = kernel(signature, entry=True)(getattr(module, name))
    loaded(made)
    return made


@intrinsic  # type: ignore[untyped-decorator]
def call_back(context: Any, address: Any, what: Any) -> Any:
    """Call the C function ``int64(int64)`` at an address, such as one of ctypes into Python."""

    def _generate(target: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = _IR.FunctionType(values[1].type, [values[1].type])
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), [values[1]])

    return types.int64(address, what), _generate


def caller(signature: str) -> Any:
    """Return what calls, within kernels, a kernel with this signature by its address (`address_of`), given first.

    A kernel that calls another one by its name is compiled together with it, and so is each that calls those.
    """
    found = eval(signature, vars(types) | RECORDS)

    @intrinsic  # type: ignore[untyped-decorator]
    def call(context: Any, address: Any, *arguments: Any) -> Any:
        """Call it."""

        def _generate(target: Any, builder: Any, given: Any, values: Any) -> Any:
            kind = target.call_conv.get_function_type(found.return_type, found.args)
            callee = builder.inttoptr(values[0], kind.as_pointer())
            passed = [builder.extract_value(values[1], i) for i in range(len(found.args))]
            status, result = target.call_conv.call_function(builder, callee, found.return_type, found.args, passed)
            with cgutils.if_unlikely(builder, status.is_error):
                target.call_conv.return_status_propagate(builder, status)
            return result

        passed = types.StarArgTuple(found.args)
        return found.return_type(address, passed), _generate

    return call


def entry_of(compiled: Any) -> Callable[..., Any]:
    """Return a kernel (an `entry` with one signature) as a function that does not look at the types of arguments."""
    (found,) = loaded(compiled).overloads.values()
    assert compiled._waiting.entry, compiled
    entry: Callable[..., Any] = found.entry_point
    return entry


def address_of(compiled: Any) -> int:
    """Return the address of the machine code of a kernel with one signature, for `call_program`."""
    (found,) = loaded(compiled).overloads.values()
    return int(found.library.get_pointer_to_function(found.fndesc.llvm_func_name))


A1, A2, A3 = "float64[::1]", "float64[:,::1]", "float64[:,:,::1]"
I1, I2 = "int64[::1]", "int64[:,::1]"
