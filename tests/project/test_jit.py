"""Compiled kernels: where they are kept, when they are rebuilt, what is said about it."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("jit")  # what they share is made once
ROOT = Path(__file__).resolve().parents[2]
INNER = """
from __future__ import annotations
from ._jit import kernel

@kernel("float64(float64)")
def inner(x):
    return x + 1.0
"""
OUTER = """
from __future__ import annotations
from ._jit import kernel
from .toy_inner import inner
from .toy_numbers import FACTOR

@kernel("float64(float64)", entry=True)
def outer(x):
    return FACTOR * inner(x)
"""
INDEX = """
from __future__ import annotations
from .._jit import kernel

@kernel("void(float64[::1], float64, float64[::1], int64, int64)", entry=True, borrows=True)
def add(y, scale, x, low, high):
    for i in range(low, high):
        y[i] += scale * x[i]

@kernel("float64(float64[::1], float64[:,::1], int64)", entry=True, borrows=True)
def ends(x, A, n):
    return x[-1] + 10.0 * A[-1, n - 2] + 100.0 * A[n - 2, -1] + 1000.0 * A[-1, -2]
"""
BRANCHES = (
    "".join(f"    if x == {k}.5:\n        x = x * {k}.25 - 1.0 / (x + {k}.0)\n" for k in range(200))
    + "    return x + 1.0"
)
CALL = "from toy.toy_outer import outer; from toy import _jit; print(outer(2.0), _jit.build_statistics()['compiled'])"


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A package with the same _jit, two kernels in two files, and a constant in a third."""
    return make_toy(tmp_path)


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[list[str], str]]:
    """The same, and what the call said that compiled it."""
    package = make_toy(tmp_path_factory.mktemp("compiled"))
    return package, call(package)


@pytest.fixture
def compiled(compiled_once: tuple[Path, tuple[list[str], str]], tmp_path: Path) -> Path:
    """A copy of the package and of its cache, as `call` leaves them."""
    shutil.copytree(compiled_once[0].parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / "toy"


def make_toy(folder: Path) -> Path:
    package = folder / "toy"
    package.mkdir()
    shutil.copytree(ROOT / "gaussdyn" / "_jit", package / "_jit")
    for name in ("_cache.py", "_kernel_files.py", "_warmup.py"):
        shutil.copy(ROOT / "gaussdyn" / name, package)
    (package / "__init__.py").write_text("")
    (package / "toy_inner.py").write_text(INNER)
    (package / "toy_outer.py").write_text(OUTER)
    (package / "toy_numbers.py").write_text("FACTOR = 10.0\n")
    return package


def call(
    package: Path, code: str = CALL, before: Callable[[], None] | None = None, **environment: str
) -> tuple[list[str], str]:
    env = {**os.environ, "GAUSSDYN_CACHE": str(package.parent / "cache"), "PYTHONPATH": str(package.parent)}
    env |= {"PYTHONDONTWRITEBYTECODE": "1", **environment}  # files are edited within a second, at the same length
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        cwd=package.parent,
        preexec_fn=before,
    )
    return done.stdout.split(), done.stderr


def folders(package: Path, stem: str) -> list[Path]:
    return sorted((package.parent / "cache").glob(f"kernels/{stem}-*"))


def test_kernels_are_compiled_once_and_said_so_once(compiled_once: tuple[Path, tuple[list[str], str]]) -> None:
    package, (found, said) = compiled_once
    assert found == ["30.0", "2"]
    assert said.count("compiling kernels as they are needed, once") == 1
    code = "from toy import _jit; from toy.toy_outer import outer, inner; print(outer(2.0), len(inner.overloads), "
    code += "inner(1.0), _jit.build_statistics()['compiled'])"  # code of a kernel within another one is in that one
    assert call(package, code) == (["30.0", "0", "2.0", "0"], "")


@pytest.mark.slow
def test_a_kernel_that_is_not_for_python_can_be_called_from_there_and_keeps_its_types(toy: Path) -> None:
    code = "from toy.toy_inner import inner; print(inner(2.0), inner(x=3), *inner.overloads)"
    assert call(toy, code)[0] == ["3.0", "4.0", "(float64,)"]
    code = "from toy.toy_inner import inner\ntry:\n    inner('x')\nexcept TypeError:\n    print('refused', inner(2.0))"
    code += "\nprint(*inner._through.stats.cache_hits.values())"
    assert call(toy, code)[0] == ["refused", "3.0", "1"]  # what calls go through is on disk by now


@pytest.fixture
def apart(toy: Path) -> Path:
    """The same package, its kernels called by address from the first byte on."""
    text = (toy / "_jit" / "kernels.py").read_text()
    (toy / "_jit" / "kernels.py").write_text(re.sub(r"(?m)^APART = [\d_]+", "APART = 0", text))
    return toy


def test_a_large_kernel_is_called_by_address_and_loaded_with_its_callers(apart: Path) -> None:
    code = CALL.replace("from toy.toy_outer import outer", "from toy.toy_outer import outer, inner")
    code += "; print(len(inner.overloads), 'toy_inner' in next(iter(outer.overloads.values())).library.get_llvm_str())"
    first = call(apart, code)[0]
    assert first == ["30.0", "2", "1", "True"]
    assert call(apart, code.split("; print(len")[0])[0] == ["30.0", "0"]


@pytest.mark.slow
def test_a_large_kernel_whose_machine_code_is_damaged_is_made_again_for_its_callers(apart: Path) -> None:
    call(apart)
    for path in (apart.parent / "cache").glob("*/*/toy_inner*.nbc"):
        path.write_bytes(b"not code")
    found, said = call(apart)
    assert found == ["30.0", "1"]
    assert "damaged" in said


@pytest.mark.slow
def test_what_a_large_kernel_is_needed_for_is_known_through_a_small_one_from_disk(toy: Path) -> None:
    """Inner is large, outer small and a part of outermost, which is compiled in a process that loads outer."""
    text = (toy / "_jit" / "kernels.py").read_text()
    (toy / "_jit" / "kernels.py").write_text(re.sub(r"(?m)^APART = [\d_]+", "APART = 6_000", text))
    (toy / "toy_inner.py").write_text(INNER.replace("    return x + 1.0", BRANCHES))
    outermost = OUTER.replace("from .toy_inner import inner", "from .toy_outer import outer")
    (toy / "toy_outermost.py").write_text(
        outermost.replace("def outer(", "def outermost(").replace("inner(x)", "outer(x)")
    )
    code = "from toy.toy_outermost import outermost; from toy.toy_inner import inner; from toy import _jit; "
    code += "print(outermost(2.0), _jit.build_statistics()['compiled'], len(inner.overloads))"
    call(toy)
    assert call(toy, code)[0] == ["300.0", "1", "1"]
    assert call(toy, code)[0] == ["300.0", "0", "1"]


RARE = INNER.replace('"float64(float64)"', '["float64(float64)", "int64(int64)"], rare=True')


@pytest.fixture
def rare(toy: Path) -> Path:
    """The same package, its inner kernel looked up by the outer one only where that is asked for a positive number."""
    (toy / "toy_inner.py").write_text(RARE)
    (toy / "toy_outer.py").write_text(OUTER.replace("FACTOR * inner(x)", "FACTOR * inner(x) if x > 0.0 else x"))
    return toy


def test_a_rare_kernel_is_compiled_and_loaded_by_the_first_call_that_comes_to_it(rare: Path) -> None:
    """In the process that compiles its caller, and in one that loads it from disk; from Python too."""
    start = "from toy import _jit; from toy.toy_outer import outer, inner; "
    start += "made = lambda: _jit.build_statistics()['compiled']; "
    look = "len(inner.overloads), made(), "
    code = f"{start}print(outer(-2.0), {look} outer(2.0), outer(3.0), {look} inner(1), inner(1.0))"
    assert call(rare, code)[0] == ["-2.0", "0", "1", "30.0", "40.0", "2", "3", "2", "2.0"]
    assert call(rare, code)[0] == ["-2.0", "0", "0", "30.0", "40.0", "2", "0", "2", "2.0"]


def test_a_rare_kernel_is_no_part_of_its_callers_but_of_what_all_kernels_are(rare: Path) -> None:
    assert call(rare, WARM)[0] == ["2", "3", "2"]
    code = "from toy import toy_outer, _warmup; print(*_warmup.to_compile(['toy.toy_outer.outer']))"
    shutil.rmtree(rare.parent / "cache")
    assert call(rare, code)[0] == ["toy.toy_outer.outer"]


def test_a_rare_kernel_that_cannot_be_compiled_is_an_error_that_names_it_and_the_process_goes_on(rare: Path) -> None:
    """Through a caller, in the process that compiles that one and in one that loads it from disk."""
    (rare / "toy_inner.py").write_text(RARE.replace("x + 1.0", "x + unknown"))
    code = """
from toy.toy_outer import outer
for x in (2.0, -2.0, 3.0):
    try:
        print(outer(x))
    except RuntimeError as error:
        print(error)
"""
    for _ in range(2):
        found, said = call(rare, code)
        words = " ".join(found)
        assert words.count("toy.toy_inner.inner: this kernel can be neither compiled nor loaded") == 2
        assert "gaussdyn warmup -2.0 toy" in words
        assert "unknown" in said


@pytest.mark.slow
def test_ctrl_c_while_a_rare_kernel_is_compiled_is_heard_after_it(rare: Path) -> None:
    """The call that waits for it ends as ever."""
    code = """
import os, signal, threading, time
from toy import _jit
from toy.toy_outer import outer, inner
outer(-1.0)
load = inner._waiting.load
def slow():
    if not hasattr(slow, "done"):
        slow.done = True
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5.0)
    load()
inner._waiting.load = slow
found = []
try:
    found.append(outer(2.0))
    time.sleep(5.0)
except KeyboardInterrupt:
    print(*found, "heard")
"""
    assert call(rare, code)[0] == ["30.0", "heard"]


@pytest.mark.slow
def test_threads_may_be_the_first_to_come_to_a_rare_kernel(rare: Path) -> None:
    code = "from concurrent.futures import ThreadPoolExecutor as Pool; from toy.toy_outer import outer; outer(-1.0); "
    code += "print(*set(Pool(8).map(outer, [2.0] * 64)))"
    assert call(rare, code)[0] == ["30.0"]


@pytest.mark.slow
def test_two_threads_may_be_the_first_to_call(compiled: Path) -> None:
    code = "from concurrent.futures import ThreadPoolExecutor as Pool; from toy.toy_outer import outer; "
    code += "print(*set(Pool(8).map(outer, [2.0] * 64)))"
    assert call(compiled, code)[0] == ["30.0"]


@pytest.mark.slow
def test_arguments_of_another_type_are_refused_by_the_first_call_too(compiled: Path) -> None:
    code = "from toy.toy_outer import outer\ntry:\n    outer('x')\nexcept TypeError:\n    print('refused', outer(2.0))"
    assert call(compiled, code)[0] == ["refused", "30.0"]


def test_an_edited_inner_kernel_is_never_stale(compiled: Path) -> None:
    (compiled / "toy_inner.py").write_text(INNER.replace("x + 1.0", "x + 2.0"))
    found, said = call(compiled)
    assert found == ["40.0", "2"]
    assert "compiling" in said
    assert len(folders(compiled, "toy_inner")) == 2
    (compiled / "toy_inner.py").write_text(INNER)
    assert call(compiled)[0] == ["30.0", "0"]  # what was kept before is there again


@pytest.mark.slow
def test_an_edited_outer_kernel_leaves_the_inner_one(compiled: Path) -> None:
    (compiled / "toy_outer.py").write_text(OUTER.replace("FACTOR * inner", "2.0 * inner"))
    assert call(compiled)[0] == ["6.0", "1"]


def test_another_copy_of_the_same_sources_finds_what_is_compiled(compiled: Path, tmp_path: Path) -> None:
    other = shutil.copytree(compiled, tmp_path / "elsewhere" / "toy")
    assert call(other, GAUSSDYN_CACHE=str(tmp_path / "cache")) == (["30.0", "0"], "")


@pytest.mark.slow
def test_an_edited_constant_is_never_stale(compiled: Path) -> None:
    (compiled / "toy_numbers.py").write_text("FACTOR = 100.0\n")
    assert call(compiled)[0] == ["300.0", "1"]
    (compiled / "toy_numbers.py").write_text("from .toy_ten import TEN\nFACTOR = TEN * TEN\n")
    (compiled / "toy_ten.py").write_text("TEN = 2.0\n")
    assert call(compiled)[0] == ["12.0", "1"]
    (compiled / "toy_ten.py").write_text("TEN = 3.0\n")
    assert call(compiled)[0] == ["27.0", "1"]


@pytest.mark.slow
def test_a_file_without_kernels_changes_nothing(compiled: Path) -> None:
    (compiled / "prose.py").write_text("WORD = 'an edit that no kernel sees'\n")
    assert call(compiled)[0] == ["30.0", "0"]


def test_an_unfinished_cache_is_completed_and_announced(toy: Path) -> None:
    """A directory left by a killed process is not taken for a finished build."""
    code = "from toy import _cache; print(_cache.cache_directory().is_dir())"
    assert call(toy, code)[0] == ["True"]
    found, said = call(toy)
    assert found == ["30.0", "2"]
    assert "compiling" in said


@pytest.mark.slow
def test_a_place_that_cannot_be_written_is_replaced(toy: Path, tmp_path: Path) -> None:
    blocker = tmp_path / "a-file"
    blocker.write_text("not a folder")
    found, said = call(toy, GAUSSDYN_CACHE=str(blocker), TMPDIR=str(tmp_path))
    assert found == ["30.0", "2"]
    assert f"cannot write {blocker}" in said
    again, said = call(toy, GAUSSDYN_CACHE=str(blocker), TMPDIR=str(tmp_path))
    assert again == ["30.0", "0"]
    assert "compiling" not in said


@pytest.mark.slow
def test_two_processes_at_once(toy: Path) -> None:
    env = {**os.environ, "GAUSSDYN_CACHE": str(toy.parent / "cache"), "PYTHONPATH": str(toy.parent)}
    both = [
        subprocess.Popen([sys.executable, "-c", CALL], env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    answers = [process.communicate(timeout=120)[0].split()[0] for process in both]
    assert answers == ["30.0", "30.0"]
    assert call(toy)[0] == ["30.0", "0"]


def small() -> None:
    """The system refuses files beyond 4 kB, as a disk that is full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


@pytest.mark.slow
def test_a_full_disk_is_said_and_the_work_goes_on(toy: Path) -> None:
    found, said = call(toy, before=small)
    assert found == ["30.0", "2"]
    assert "can write neither" in said
    assert said.count("cannot be kept") == 1
    assert "GAUSSDYN_CACHE" in said
    assert call(toy)[0] == ["30.0", "2"]
    found, said = call(toy, before=small)  # what is there is read all the same
    assert (found, said) == (["30.0", "0"], "")


@pytest.mark.slow
def test_damaged_machine_code_is_compiled_again(compiled: Path) -> None:
    for ending in ("nbi", "nbc"):
        for file in (compiled.parent / "cache").rglob(f"*.{ending}"):
            file.write_bytes(file.read_bytes()[:50])
        found, said = call(compiled)
        assert found == ["30.0", "2"]
        assert "is damaged" in said
        assert call(compiled)[0] == ["30.0", "0"]


@pytest.mark.slow
def test_a_warmup_that_cannot_keep_anything_ends_soon(toy: Path) -> None:
    widen(toy)
    code = f"try:\n    exec({WARM!r})\nexcept OSError as error:\n    print('ended', error)"
    found, _ = call(toy, code, before=small)
    assert found[0] == "ended"
    assert "kept" in found


WARM = (
    "from toy._warmup import compile_all as warm; d = warm(2); print(d['processes'], d['compiled'], len(d['modules']))"
)
WIDE = """
from __future__ import annotations
from ._jit import kernel
from .toy_prose import outer

@kernel("float64(float64)")
def wide_PLACE(x):
    return outer(x) + PLACE

@kernel(["float64(float64)", "int64(int64)"])
def twice_PLACE(x):
    return x + x
"""


def widen(package: Path) -> None:
    """Two more modules, which reach the kernels of the others through a file without kernels."""
    (package / "toy_prose.py").write_text("from .toy_outer import outer\n")
    for place in "12":
        (package / f"toy_wide{place}.py").write_text(WIDE.replace("PLACE", place))


@pytest.mark.slow
def test_a_parallel_warmup_compiles_every_kernel_once_and_for_good(toy: Path) -> None:
    """Six kernels in eight variants, none of them twice; a second process finds all of them."""
    widen(toy)
    found, said = call(toy, WARM)
    assert found == ["2", "8", "4"]
    assert said.count("compiling its kernels, once") == 1
    assert [line.split("]")[0] for line in said.splitlines() if line.startswith("[")] == [
        f"[{k}/4" for k in range(1, 5)
    ]
    again, said = call(toy, WARM)
    assert again == ["1", "0", "4"]
    assert "compiling" not in said
    every = "from toy import toy_wide1, toy_wide2, _jit; print(toy_wide2.wide_2(2.0), toy_wide1.twice_1(2)"
    assert call(toy, f"{every}, _jit.build_statistics()['compiled'])")[0] == ["32.0", "4", "0"]


AHEAD = "from toy import _warmup; _warmup.WORTH = 1; _warmup.compile_ahead(['toy.toy_wide1.wide_1'])"


@pytest.mark.slow
def test_what_a_command_needs_is_compiled_ahead_and_nothing_else(toy: Path) -> None:
    widen(toy)
    _, said = call(toy, AHEAD)
    assert "compiling what this needs, once (3 kernels" in said
    assert {line.split()[-1] for line in said.splitlines() if line.startswith("[")} == {
        "toy.toy_inner", "toy.toy_outer", "toy.toy_wide1",
    }  # fmt: skip
    assert call(toy, AHEAD)[1] == ""
    uses = "from toy import toy_wide1, _jit; print(toy_wide1.wide_1(2.0), _jit.build_statistics()['compiled'])"
    assert call(toy, uses)[0] == ["31.0", "0"]


def test_only_what_is_ready_is_given_out(toy: Path) -> None:
    widen(toy)
    code = """
from toy import toy_wide1, toy_wide2, _warmup
kernels = _warmup.to_compile()
print(*(f"{name[4:]}:{'+'.join(part[4:] for part in kernels[name][1])}" for name in _warmup.by_urgency(kernels)))
"""
    assert call(toy, code)[0] == [
        "toy_inner.inner:",
        "toy_outer.outer:toy_inner.inner",
        "toy_wide1.wide_1:toy_outer.outer",
        "toy_wide2.wide_2:toy_outer.outer",
        "toy_wide1.twice_1:",
        "toy_wide2.twice_2:",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trouble", "word"), [("raise ValueError('spilt')", "ValueError: spilt"), ("os._exit(3)", "exit status 3")]
)
def test_what_a_child_cannot_do_is_said_and_done_here(toy: Path, trouble: str, word: str) -> None:
    """The trouble strikes only in a process that serves another."""
    widen(toy)
    strikes = f"import os, sys\nif 'serve()' in str(sys.orig_argv):\n    {trouble}\n"
    (toy / "toy_wide1.py").write_text(WIDE.replace("PLACE", "1").replace("from ._jit", strikes + "from ._jit"))
    found, said = call(toy, WARM)
    assert found[2] == "4"
    assert re.search(r"toy\.toy_wide1\.\w+: ", said)
    assert word in said
    assert call(toy, WARM)[0] == ["1", "0", "4"]


@pytest.mark.slow
def test_a_parallel_warmup_where_the_place_cannot_be_written(toy: Path, tmp_path: Path) -> None:
    blocker = tmp_path / "a-file"
    blocker.write_text("not a folder")
    found, said = call(toy, WARM, GAUSSDYN_CACHE=str(blocker), TMPDIR=str(tmp_path))
    assert found == ["2", "2", "2"]
    assert said.count(f"cannot write {blocker}") == 1
    assert call(toy, WARM, GAUSSDYN_CACHE=str(blocker), TMPDIR=str(tmp_path))[0] == ["1", "0", "2"]


def test_every_kernel_file_is_found_by_the_hash() -> None:
    """No file defines kernels without importing the decorator in the way that `kernel_sources` looks for."""
    from gaussdyn._kernel_files import kernel_sources

    package = ROOT / "gaussdyn"
    users = {path for path in package.rglob("*.py") if re.search(r"^@kernel\(", path.read_text(), re.MULTILINE)}
    assert users <= set(kernel_sources())
    assert users


def test_a_kernel_is_made_of_what_its_file_reaches() -> None:
    """All kernel modules that an import brings in are part of the name of its machine code."""
    from gaussdyn._kernel_files import kernel_sources, machine_code_name, parts_of

    path = ROOT / "gaussdyn" / "linalg" / "dense.py"
    assert {file.name for file in parts_of(path)} >= {"dense.py", "kernels.py", "record_types.py"}
    assert len({machine_code_name(path) for path in kernel_sources()}) == len(kernel_sources())


SLICES = """
from __future__ import annotations
from ._jit import kernel

@kernel("void(float64[::1], float64[::1])", entry=True)
def put(x, y):
    x[:2] = y
"""


ARRAYS = """
from __future__ import annotations
import numpy as np
from ._jit import kernel

@kernel("float64(int64)")
def summed(n):
    x = np.empty(n)
    x[:] = 0.5
    return x.sum()

@kernel("float64(float64[::1])", entry=True, borrows=True)
def doubled(x):
    return summed(len(x)) * 2.0
"""


def test_a_kernel_that_makes_arrays_may_be_compiled_first_within_one_that_makes_none(toy: Path) -> None:
    (toy / "toy_arrays.py").write_text(ARRAYS)
    code = "import numpy; from toy.toy_arrays import doubled; print(doubled(numpy.ones(7)))"
    assert call(toy, code)[0] == ["7.0"]


def test_slices_of_unlike_shapes_are_refused_without_kernels_for_strings(toy: Path) -> None:
    (toy / "toy_slices.py").write_text(SLICES)
    code = """
import numpy as np
from numba.core.types.functions import BaseFunction
known = BaseFunction.get_call_type
from toy.toy_slices import put
from toy import _jit
x = np.zeros(3)
put(x, np.ones(2))
print(*x, _jit.build_statistics()["compiled"], BaseFunction.get_call_type is known)
try:
    put(x, np.ones(3))
except ValueError as error:
    print(error)
"""
    words = "cannot assign to a slice from an array of another shape"
    assert call(toy, code)[0] == [*["1.0", "1.0", "0.0", "2", "True"], *words.split()]


def test_kernels_are_plain_functions_where_numba_is_told_so():
    code = "import numpy as np; from gaussdyn.linalg.dense import dot; print(dot(np.ones(5), np.ones(5), 5))"
    words = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "5.0"


def test_loops_of_some_packages_become_vectors_and_negative_numbers_count_from_the_end(toy: Path) -> None:
    for package in ("linalg", "other"):
        (toy / package).mkdir()
        (toy / package / "__init__.py").write_text("")
        (toy / package / "toy_index.py").write_text(INDEX)
    code = (
        "import numpy as np, re; from toy import _jit; from toy.linalg.toy_index import add, ends; "
        "from toy.other import toy_index; "
        "x, A = np.array([1.0, 2.0, 3.0]), np.arange(9.0).reshape(3, 3); "
        "print(ends(x, A, 3), 3.0 + 10.0 * A[2, 1] + 100.0 * A[1, 2] + 1000.0 * A[2, 1]); "
        "print(toy_index.ends(x, A, 1), 3.0 + 10.0 * A[2, 2] + 100.0 * A[2, 2] + 1000.0 * A[2, 1]); "
        "(made,) = _jit.kernels.loaded(add).overloads.values(); "
        "print(len(re.findall(r'fadd <[248] x double>', made.library.get_llvm_str())))"
    )
    found, wanted, back, from_end, vectors = call(toy, code)[0]
    assert found == wanted
    assert back == from_end
    assert int(vectors) > 0
