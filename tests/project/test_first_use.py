"""What a command compiles ahead is what it needs: no less, so that nothing is compiled by one core, and no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gaussdyn import _warmup
from gaussdyn._kernel_files import kernel_sources, reached
from gaussdyn._warmup import ROOTS

ROOT = Path(__file__).resolve().parents[2]
SEEN = """
import sys
from gaussdyn.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert end.code in (0, None)
print("modules", *sys.modules)
"""


def kernel_modules() -> dict[str, Path]:
    return {_warmup.module_name(path): path for path in kernel_sources()}


def ahead(*needs: str) -> set[str]:
    there = kernel_modules()
    paths = reached(there[root] for need in needs for root in ROOTS[need])
    return {name for name, path in there.items() if path in paths}


def test_roots_are_kernel_modules() -> None:
    assert {root for roots in ROOTS.values() for root in roots} <= set(kernel_modules())


@pytest.mark.slow
@pytest.mark.parametrize(("words", "needs"), [
    (("run", "sliding_rod", "--t-end", "0.01"), ("outcomes", "steps")),
    (("run", "launched_cube", "--t-end", "0.01"), ("outcomes", "free bodies")),
    (("solve", "tests/data/rocking_stack.hdf5"), ("problems",)),
])  # fmt: skip
def test_a_command_needs_what_is_compiled_ahead(words: tuple[str, ...], needs: tuple[str, ...]) -> None:
    code = [sys.executable, "-c", SEEN, *words]
    done = subprocess.run(code, cwd=ROOT, capture_output=True, text=True, check=True, timeout=600)
    used = set(done.stdout.rpartition("modules ")[2].split()) & set(kernel_modules())
    made = ahead(*needs)
    assert len(used - made) < _warmup.WORTH
    assert sum(map(_warmup.kernels_in, (kernel_modules()[name] for name in made - used))) < 60
