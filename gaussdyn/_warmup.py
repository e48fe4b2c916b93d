"""Kernels compiled ahead, in as many processes as there are cores (at most four): all, or those that a command needs.

A kernel is given out when all that it is compiled with is on disk: none is compiled twice then, and no two processes
write the same file of the cache. The longest chains go first.
"""

from __future__ import annotations

import gc
import io
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from . import _cache
from ._cache import say
from ._kernel_files import PACKAGE, kernel_sources

WORTH = 24  # kernels: fewer are compiled sooner by the process that needs them
MOST = 4  # processes: two take up to 1.3 GB each, and chains of callers leave little to do for more
KERNEL = re.compile(r"^@kernel\(", re.MULTILINE)
ROOTS = {  # kernels that a command is sure to need, with what they are compiled with
    "steps": (
        "gaussdyn.integrate.time_stepping.core.step.take_steps",
        "gaussdyn.integrate.time_stepping.core.step.retake_step",
        "gaussdyn.integrate.time_stepping.core.step.open_step",
        "gaussdyn.integrate.time_stepping.core.step.resume_step",
        "gaussdyn.programs.blocks.small.attempts.first_attempts",  # outcomes in the plane
    ),
    "free bodies": (
        "gaussdyn.contact.free_bodies.block_places.block_places",
        "gaussdyn.integrate.time_stepping.compiled.position_projection.project_end",
        "gaussdyn.integrate.time_stepping.compiled.step_loop.advance_bodies",
        "gaussdyn.mechanics.collision.broad_phase.meet_all",
        "gaussdyn.mechanics.collision.broad_phase.meet_half_space",
        "gaussdyn.mechanics.collision.contact_rows.feature_rows",
        "gaussdyn.mechanics.collision.feature_kinematics.feature_geometry",
    ),
    "outcomes": (
        "gaussdyn.programs.enumeration.search_kernels.explore",
        "gaussdyn.programs.active_set.dual_method.solve_rows",
        "gaussdyn.programs.conic.interior_point.smallest_many",
    ),
    "problems": (
        "gaussdyn.programs.blocks.small.attempts.first_attempts",
        "gaussdyn.programs.laws.projections.block_spectra",
        "gaussdyn.programs.solution.residual_kernels.audit",
        "gaussdyn.linalg.sparse_rows.motion",
    ),
}
Kernels = dict[str, tuple[str, set[str], int]]  # by name: module, kernels that it is compiled with, length of its code


class _Stopped(Exception):
    """A compiling process failed or died."""


def compile_all(processes: int | None = None) -> dict[str, Any]:
    """Compile every kernel that is not on disk yet, with a line on standard error for each module.

    What the processes could not do (one was killed, say) is done here.

    Parameters
    ----------
    processes : int or None
        How many may compile at once; None for as many as there are cores, at most `MOST`.

    Returns
    -------
    dict
        ``modules`` (names), ``processes`` (how many were used), ``compiled`` (functions newly compiled),
        ``compile_s`` (seconds for compiling and loading, all processes together).

    Raises
    ------
    OSError
        What is compiled cannot be kept on disk: there is no room.
    """
    modules = [module_name(path) for path in kernel_sources()]
    for name in modules:
        import_module(name)
    missing = to_compile()
    team = _Team(missing)
    wanted = min(processes or min(cores(), MOST), len(missing))
    if wanted > 1:
        say(f"gaussdyn: compiling its kernels, once, in {wanted} processes ...")
        team.work(wanted)
    return {"modules": modules, "processes": max(wanted, 1), **_here(team)}


def ready(*needs: str) -> None:
    """Compile what is not on disk yet of the kernels for steps, outcomes, ... (see `ROOTS`)."""
    compile_ahead([root for need in needs for root in ROOTS[need]])


def compile_ahead(roots: Iterable[str]) -> None:
    """Compile some kernels and what they are compiled with, with all cores, unless it was done before.

    What cannot be done here is left to the process that needs it.

    Parameters
    ----------
    roots : names of kernels
    """
    names = list(roots)
    if cores() < 2:
        return
    for name in names:
        import_module(name.rpartition(".")[0])
    missing = to_compile(names)
    if len(missing) < WORTH:
        return
    say(f"gaussdyn: compiling what this needs, once ({len(missing)} kernels, about a minute) ...")
    _Team(missing).work(min(cores(), MOST))


def _here(team: _Team) -> dict[str, Any]:
    """Compile in this process what the team has not done."""
    from . import _jit

    for name in team.order:
        if name not in team.done:
            team.tell(name)
            _jit.KERNELS[name].load()
            if _jit.unkept():
                raise OSError(_jit.unkept())
    here, there = _jit.build_statistics(), team.counts()
    return {key: here[key] + there[key] for key in there}


class _Team:
    """Processes that compile kernels, each as soon as all that it needs is compiled."""

    def __init__(self, kernels: Kernels) -> None:
        self.kernels, self.order = kernels, by_urgency(kernels)
        self.told: dict[str, None] = {}
        self.done: set[str] = set()
        self.answers: queue.SimpleQueue[tuple[_Worker, dict[str, Any]]] = queue.SimpleQueue()
        self.workers: list[_Worker] = []

    def work(self, processes: int) -> None:
        """Compile all of it; where that fails, say why and leave the rest."""
        try:
            self.workers = [_Worker(self.answers) for _ in range(processes)]
            self._share_out()
        except (_Stopped, OSError) as error:
            say(f"gaussdyn: a compiling process failed: {error}\ngaussdyn: going on in one process ...")
        finally:
            for worker in self.workers:
                worker.process.kill()
                worker.process.wait()

    def _share_out(self) -> None:
        idle, waiting = list(self.workers), list(self.order)
        needs = {name: parts & self.kernels.keys() for name, (_, parts, _) in self.kernels.items()}
        while waiting or len(idle) < len(self.workers):
            ready = [name for name in waiting if needs[name] <= self.done][: len(idle)]
            for name in ready:
                waiting.remove(name)
                self.tell(name)
                idle.pop().begin(self.kernels[name][0], name)
            worker, answer = self.answers.get()
            if answer.get("error"):
                raise _Stopped(f"{worker.kernel}: {answer['error']}")
            worker.counts = answer
            self.done.add(worker.kernel)
            idle.append(worker)

    def tell(self, name: str) -> None:
        """Say which kernel is next: of all on a screen, else the first one of each module."""
        module, place = self.kernels[name][0], self.order.index(name) + 1
        if sys.stderr.isatty():  # one line that changes
            line = f"[{place}/{len(self.order)}] {name}"
            sys.stderr.write(f"\r\x1b[K{line[:79]}" + "\n" * (len(self.told) == len(self.order) - 1))
            sys.stderr.flush()
            self.told[name] = None
        elif module not in self.told:
            self.told[module] = None
            say(f"[{len(self.told)}/{len({kernel[0] for kernel in self.kernels.values()})}] {module}")

    def counts(self) -> dict[str, Any]:
        """Return ``compiled`` and ``compile_s`` of all processes together."""
        zero = {"compile_s": 0.0, "compiled": 0}
        return {key: sum((worker.counts[key] for worker in self.workers if worker.counts), zero[key]) for key in zero}


class _Worker:
    """A child process that runs `serve`."""

    def __init__(self, answers: queue.SimpleQueue[tuple[_Worker, dict[str, Any]]]) -> None:
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        place = {"GAUSSDYN_CACHE": str(_cache.kernel_directory().parent)}  # the one chosen here, whatever it is
        self.process = subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, **place},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.kernel, self.counts = "", dict[str, Any]()
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()

    def begin(self, module: str, kernel: str) -> None:
        """Have it compile this kernel of a module."""
        self.kernel = kernel
        assert self.process.stdin is not None
        self.process.stdin.write(f"{module} {kernel}\n")
        self.process.stdin.flush()

    def _listen(self, answers: queue.SimpleQueue[tuple[_Worker, dict[str, Any]]]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answers.put((self, json.loads(line)))
        answers.put((self, {"error": f"the process ended (exit status {self.process.wait()})"}))


def serve() -> None:
    """Compile kernels, modules and names of which come on standard input, and answer each line with a line of JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    gc.disable()  # looking for waste takes a tenth of the time and would free half a gigabyte
    from . import _jit

    for line in sys.stdin:
        said, error = io.StringIO(), ""
        try:
            with redirect_stderr(said), redirect_stdout(said):
                module, kernel = line.split()
                import_module(module)
                _jit.KERNELS[kernel].load()
        except Exception as failure:  # whatever it is, it is the parent that reports it
            error = f"{type(failure).__name__}: {failure}"
        error = error or _jit.unkept()
        sys.stdout.write(json.dumps({**_jit.build_statistics(), "error": error}) + "\n")
        sys.stdout.flush()


def module_name(path: Path) -> str:
    """Return the dotted name of a source file of the package."""
    return ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts))


def stored(path: Path) -> bool:
    """Tell whether there is machine code on disk for every kernel of a source file.

    It only decides what is worth sharing out: numba itself checks what it loads.
    """
    there = [index for index in _cache.machine_code(path).glob("*.nbi") if f"{_cache.THROUGH}-" not in index.name]
    return len(there) >= kernels_in(path)


def kernels_in(path: Path) -> int:
    """Return how many kernels a source file defines."""
    return len(KERNEL.findall(path.read_text(encoding="utf-8")))


def to_compile(roots: Iterable[str] | None = None) -> Kernels:
    """Return the kernels of the imported modules that are not on disk; of `roots` only, and what these are made of."""
    from ._jit import KERNELS

    found = made_of(KERNELS if roots is None else roots)
    return {name: kernel for name, kernel in found.items() if not (KERNELS[name].taken or KERNELS[name].on_disk())}


def made_of(roots: Iterable[str]) -> Kernels:
    """Return some kernels of imported modules, and all that they are compiled with or call by address."""
    from ._jit import KERNELS

    ahead, found = list(roots), Kernels()
    while ahead:
        name = ahead.pop()
        if name not in found:
            function, parts = KERNELS[name].jitted.py_func, KERNELS[name].parts()
            found[name] = function.__module__, parts, len(function.__code__.co_code)
            ahead += parts
    return found


def by_urgency(kernels: Kernels) -> list[str]:
    """Return the names of kernels sorted by how much must be compiled one after the other from there on, most first."""
    callers: dict[str, list[str]] = {name: [] for name in kernels}
    for name, (_, parts, _) in kernels.items():
        for part in parts & kernels.keys():
            callers[part].append(name)

    @cache
    def urgency(name: str) -> int:
        return kernels[name][2] + max(map(urgency, callers[name]), default=0)

    return sorted(kernels, key=lambda name: (-urgency(name), name))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
