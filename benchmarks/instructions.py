"""Instructions that steps of a robot take, function by function: counted one by one, whatever else a machine does.

    python benchmarks/instructions.py FILE [--held] [--after 300] [--steps 10] [--top 40]

Steps are those of `gaussdyn bench robots` ("once"), told random torques unless held. The last line says how much code
they run through. Needs Linux on x86-64, a C compiler (cc) and the extra mjcf. Counts do not say how long an instruction
takes. A run that compiles kernels does not know their names: run it twice.
"""

from __future__ import annotations

import argparse
import collections
import math
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

TRACER = r"""
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <stdint.h>
int main(int n, char **v) {  /* runs v[2..]; writes where each instruction stands between two SIGUSR1 to v[1] */
  pid_t child = fork();
  if (!child) { ptrace(PTRACE_TRACEME, 0, 0, 0); execvp(v[2], v + 2); exit(1); }
  FILE *out = fopen(v[1], "wb");
  int status, counts = 0, passed = 0;
  waitpid(child, &status, 0);
  for (;;) {
    ptrace(counts ? PTRACE_SINGLESTEP : PTRACE_CONT, child, 0, passed);
    passed = 0;
    if (waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status)) break;
    if (WSTOPSIG(status) == SIGUSR1) counts = !counts;
    else if (WSTOPSIG(status) == SIGTRAP) {
      uint64_t at = ptrace(PTRACE_PEEKUSER, child, 16 * 8, 0);  /* rip */
      if (counts) fwrite(&at, 8, 1, out);
    } else passed = WSTOPSIG(status);
  }
  fclose(out);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
"""
CODE: dict[int, bytes] = {}  # object files of kernels, by their libraries


def functions(data: bytes) -> Iterator[tuple[str, int, int, int]]:
    """Yield name, section, place and size of the functions of an object file (ELF, 64 bits)."""
    (table,), (size, count, _) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    for section in sections:
        if section[1] == 2:
            names = sections[section[6]][4]
            for k in range(section[5] // 24):
                name, info, _, of, value, length = struct.unpack_from("<IBBHQQ", data, section[4] + 24 * k)
                if info & 15 == 2:
                    end = data.index(b"\0", names + name)
                    yield data[names + name : end].decode(), of, value, length


def keep_code() -> None:
    """Have the machine code of kernels that come from disk kept."""
    from gaussdyn._jit import lean

    begin = lean._FromDisk.__init__

    def keep(self: Any, codegen: Any, name: str, machine_code: bytes, bitcode: bytes) -> None:
        CODE[id(self)] = machine_code
        begin(self, codegen, name, machine_code, bitcode)

    lean._FromDisk.__init__ = keep  # type: ignore[method-assign]


def in_memory() -> Iterator[tuple[int, int, str]]:
    """Yield where each function of the kernels at hand stands, its size and its name."""
    from gaussdyn import _jit

    for waiting in _jit.KERNELS.values():
        for found in waiting.found() if waiting.taken else ():
            own, known = found.fndesc.llvm_func_name, list(functions(CODE.get(id(found.library), b"\0" * 64)))
            for first in known:
                if first[0] == own:
                    base = int(found.library.get_pointer_to_function(own)) - first[2]
                    yield from ((base + at, size, name) for name, of, at, size in known if of == first[1])


def inside(file: Path, held: bool, after: int, steps: int, table: Path) -> None:
    """Take the steps, between two signals."""
    keep_code()
    from gaussdyn.integrate.time_stepping.core.outside.spans import spans_of
    from gaussdyn.league import robot_race as race
    from gaussdyn.mechanics.robots.read_robot import read_robot

    robot = read_robot(file)
    system, known = robot.system(), {one.name: one for one in robot.keyframes}
    pose = {name: x for name, x in race.POSE.items() if name in system.places.joints}
    keyframe = next((name for name in race.KEYFRAMES if name in known), "")
    start, told = robot.start(keyframe, joints=pose, project=True), race._controls(system, after + steps + race.HELD)
    if held:
        told[:] = known[keyframe].control if keyframe else 0.0
    run, own = race.Ours(system, start, False), told[after // race.HELD]
    for control in told[: after // race.HELD]:
        run.take(control)
    kernels, spans = run.kernels, spans_of(run.method, run.state.t, steps, math.inf)
    kernels.advance_many(run.method, run.state, steps, own, record=False)  # so that all is in memory
    table.write_text("".join(f"{at} {size} {name}\n" for at, size, name in in_memory()))
    kernels._last = None
    kernels._load(run.state, own, race.DT)
    room, kernels._unseen[0] = kernels._same_room(steps), 1
    os.kill(os.getpid(), signal.SIGUSR1)
    kernels._run(run.method, run.state, spans, room, None)
    os.kill(os.getpid(), signal.SIGUSR1)


def plain(name: str) -> str:
    """Return the name of a kernel, of what it is called in machine code."""
    parts, rest = [name], name.removeprefix("_ZN")
    while found := re.match(r"(\d+)", rest):
        size, rest = int(found[1]), rest[len(found[1]) :]
        parts.append(rest[:size])
        rest = rest[size:]
    return parts[-1]


def show(trace: Path, table: Path, steps: int, top: int) -> None:
    """Print what each function takes."""
    at = np.fromfile(trace, dtype=np.uint64)
    known = sorted(
        (int(where), int(size), name) for where, size, name in map(str.split, table.read_text().split("\n")[:-1])
    )
    starts, sizes = (np.array([one[k] for one in known], dtype=np.uint64) for k in (0, 1))
    of = np.searchsorted(starts, at, side="right") - 1
    own = (of >= 0) & (at < starts[of] + sizes[of])
    taken, calls = collections.Counter[str](), collections.Counter[str]()
    for k, count in zip(*np.unique(of[own], return_counts=True), strict=True):
        taken[plain(known[k][2])] += int(count)
    for k, count in zip(*np.unique(of[own & (at == starts[of])], return_counts=True), strict=True):
        calls[plain(known[k][2])] += int(count)
    print(f"{'instructions':>12} {'calls':>7}  a step")
    for name, count in taken.most_common(top):
        print(f"{count / steps:12.0f} {calls[name] / steps:7.1f}  {name}")
    lines = len(np.unique(at[own] >> np.uint64(6)))
    print(f"{own.sum() / steps:12.0f} in kernels, {len(at) / steps:.0f} in all, {lines / 16:.0f} kB of code")


def main() -> None:
    """Count."""
    asked = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    asked.add_argument("file", type=Path)
    asked.add_argument("--held", action="store_true")
    for name, value in (("--after", 300), ("--steps", 10), ("--top", 40)):
        asked.add_argument(name, type=int, default=value)
    asked.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.inside is not None:
        inside(given.file, given.held, given.after, given.steps, given.inside)
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "tracer.c").write_text(TRACER)
        subprocess.run(["cc", "-O2", "-o", place / "tracer", place / "tracer.c"], check=True)
        own = [sys.executable, __file__, *sys.argv[1:], "--inside", place / "table"]
        subprocess.run([place / "tracer", place / "trace", *own], check=True)
        show(place / "trace", place / "table", given.steps, given.top)


if __name__ == "__main__":
    main()
