"""All kernels compiled at once, in as many processes as there are cores (at most four).

A module is given out when every kernel module that it imports is on disk: its own kernels are all that is compiled
then, none is compiled twice, and no two processes write the same file of the cache. The longest chains go first.
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
from importlib import import_module
from pathlib import Path
from typing import Any

from . import _cache
from ._cache import say
from ._kernel_files import PACKAGE, kernel_sources, reached

WORTH = 8  # modules: fewer are compiled sooner by the process that needs them
MOST = 4  # processes: two take up to 1.3 GB each, and chains of callers leave little to do for more
KERNEL = re.compile(r"^@kernel\(", re.MULTILINE)
ROOTS = {  # kernel modules that lead to others, by what a command is sure to need
    "steps": (
        "gaussdyn.integrate.time_stepping.core.step",
        "gaussdyn.integrate.time_stepping.core.contact_list",
    ),
    "free bodies": (
        "gaussdyn.integrate.time_stepping.compiled.step_loop",
        "gaussdyn.mechanics.trees.forest_state",
    ),
    "outcomes": (
        "gaussdyn.programs.enumeration.search_kernels",
        "gaussdyn.programs.active_set.dual_method",
        "gaussdyn.programs.conic.interior_point",
    ),
    "problems": (
        "gaussdyn.programs.blocks.small.attempts",
        "gaussdyn.programs.solution.residual_kernels",
        "gaussdyn.linalg.block_lu3",
    ),
}
Needs = dict[str, frozenset[str]]  # names of kernel modules -> those that must be compiled before them


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
    sources = {module_name(path): path for path in kernel_sources()}
    missing = [name for name, path in sources.items() if not stored(path)]
    needs = needs_among(sources, missing)
    team = _Team(needs, by_urgency(needs, {name: kernels_in(sources[name]) for name in missing}), len(sources))
    wanted = min(processes or min(cores(), MOST), len(missing))
    if wanted > 1:
        say(f"gaussdyn: compiling its kernels, once, in {wanted} processes ...")
        team.work(wanted)
    return {"modules": list(sources), "processes": max(wanted, 1), **_here(sources, team)}


def ready(*needs: str) -> None:
    """Compile what is not on disk yet of the kernels for steps, outcomes, ... (see `ROOTS`)."""
    compile_ahead([root for need in needs for root in ROOTS[need]])


def compile_ahead(roots: Iterable[str]) -> None:
    """Compile some kernel modules and those that they import, with all cores, unless it was done before.

    What cannot be done here is left to their import.

    Parameters
    ----------
    roots : names of kernel modules
    """
    files = [PACKAGE.joinpath(*root.split(".")[1:]).with_suffix(".py") for root in roots]
    if cores() < 2 or all(map(stored, files)):
        return
    there, paths = {module_name(path): path for path in kernel_sources()}, reached(files)
    missing = [name for name, path in there.items() if path in paths and not stored(path)]
    if len(missing) < WORTH:
        return
    needs = needs_among(there, missing)
    team = _Team(needs, by_urgency(needs, {name: kernels_in(there[name]) for name in missing}), len(missing))
    say(f"gaussdyn: compiling what this needs, once ({len(missing)} modules, about a minute) ...")
    team.work(min(cores(), MOST))


def _here(sources: Iterable[str], team: _Team) -> dict[str, Any]:
    """Import in this process what the team has not done: compiled if need be."""
    rest = [name for name in sources if name not in team.done]
    if not rest:
        return team.counts()
    from . import _jit

    for name in rest:
        team.tell(name)
        import_module(name)
        if _jit.unkept():
            raise OSError(_jit.unkept())
    here, there = _jit.build_statistics(), team.counts()
    return {key: here[key] + there[key] for key in there}


class _Team:
    """Processes that compile modules, each as soon as all that it needs is compiled."""

    def __init__(self, needs: Needs, order: list[str], total: int) -> None:
        self.needs, self.waiting, self.total = needs, order, total
        self.told: set[str] = set()
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
        idle, waiting = list(self.workers), self.waiting
        while waiting or len(idle) < len(self.workers):
            ready = [name for name in waiting if self.needs[name] <= self.done][: len(idle)]
            for name in ready:
                waiting.remove(name)
                self.tell(name)
                idle.pop().begin(name)
            worker, answer = self.answers.get()
            if answer.get("error"):
                raise _Stopped(f"{worker.module}: {answer['error']}")
            worker.counts = answer
            self.done.add(worker.module)
            idle.append(worker)

    def tell(self, name: str) -> None:
        """Say which module is next, and how many there are."""
        self.told.add(name)
        line = f"[{len(self.told)}/{self.total}] {name}"
        if sys.stderr.isatty():  # one line that changes
            sys.stderr.write(f"\r\x1b[K{line[:79]}" + "\n" * (len(self.told) == self.total))
            sys.stderr.flush()
        else:
            say(line)

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
        self.module, self.counts = "", dict[str, Any]()
        threading.Thread(target=self._listen, args=(answers,), daemon=True).start()

    def begin(self, module: str) -> None:
        """Have it compile this module."""
        self.module = module
        assert self.process.stdin is not None
        self.process.stdin.write(module + "\n")
        self.process.stdin.flush()

    def _listen(self, answers: queue.SimpleQueue[tuple[_Worker, dict[str, Any]]]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answers.put((self, json.loads(line)))
        answers.put((self, {"error": f"the process ended (exit status {self.process.wait()})"}))


def serve() -> None:
    """Import the modules named on standard input, one a line, and answer each with a line of JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    gc.disable()  # looking for waste takes a tenth of the time and would free half a gigabyte
    from . import _jit

    for line in sys.stdin:
        said, error = io.StringIO(), ""
        try:
            with redirect_stderr(said), redirect_stdout(said):
                import_module(line.strip())
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
    return len(list(_cache.machine_code(path).glob("*.nbi"))) >= kernels_in(path)


def kernels_in(path: Path) -> int:
    """Return how many kernels a source file defines."""
    return len(KERNEL.findall(path.read_text(encoding="utf-8")))


def needs_among(sources: dict[str, Path], missing: list[str]) -> Needs:
    """Return for every missing module those of the missing ones that its import would compile."""
    by_path = {path: name for name, path in sources.items()}
    needs = {}
    for name in missing:
        found = frozenset(by_path[path] for path in reached([sources[name]]) if path in by_path)
        needs[name] = found & set(missing) - {name}
    return needs


def by_urgency(needs: Needs, kernels: dict[str, int]) -> list[str]:
    """Return the modules sorted by how many kernels must be compiled one after the other from there on, most first."""
    urgency: dict[str, int] = {}
    for name in sorted(needs, key=lambda name: -len(needs[name])):  # callers before what they call
        following = (urgency[caller] for caller, called in needs.items() if name in called)
        urgency[name] = kernels[name] + max(following, default=0)
    return sorted(needs, key=lambda name: (-urgency[name], name))


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
