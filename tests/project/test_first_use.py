"""What a command compiles ahead is what it needs: no less, so that nothing is compiled by one core, and no more."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from gaussdyn import _warmup
from gaussdyn._kernel_files import kernel_sources
from gaussdyn._warmup import ROOTS

ROOT = Path(__file__).resolve().parents[2]
SEEN = """
import sys
from gaussdyn.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert end.code in (0, None)
from gaussdyn._jit import KERNELS
print("kernels", *(name for name, kernel in KERNELS.items() if kernel.taken))
"""


def ahead(*needs: str) -> set[str]:
    roots = [root for need in needs for root in ROOTS[need]]
    for root in roots:
        import_module(root.rpartition(".")[0])
    return set(_warmup.made_of(roots))


@pytest.mark.parametrize(("needs", "most"), [(("steps", "outcomes", "problems"), 350), (("free bodies",), 250)])
def test_what_is_compiled_ahead_is_a_part_of_all(needs: tuple[str, ...], most: int) -> None:
    """What few runs come to is marked as rare at its door: a run in the plane is made of less than a third of it."""
    assert 20 < len(ahead(*needs)) <= most
    assert 3 * most < sum(map(_warmup.kernels_in, kernel_sources()))


@pytest.mark.slow
@pytest.mark.parametrize(("words", "needs"), [
    (("run", "sliding_rod", "--t-end", "0.01"), ("outcomes", "steps")),
    (("run", "launched_cube", "--t-end", "0.01"), ("outcomes", "free bodies")),
    (("solve", "tests/data/rocking_stack.hdf5"), ("problems",)),
])  # fmt: skip
def test_a_command_needs_what_is_compiled_ahead(words: tuple[str, ...], needs: tuple[str, ...]) -> None:
    code = [sys.executable, "-c", SEEN, *words]
    done = subprocess.run(code, cwd=ROOT, capture_output=True, text=True, check=True, timeout=600)
    made, taken = ahead(*needs), done.stdout.rpartition("kernels ")[2].split()
    for name in taken:
        import_module(name.rpartition(".")[0])
    used = set(_warmup.made_of(taken))
    assert len(used - made) < _warmup.WORTH
    assert len(made - used) < 60
