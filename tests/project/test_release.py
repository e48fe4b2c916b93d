"""A release: one version everywhere, a wheel with all that the package needs, which runs outside of the repository."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gaussdyn import __version__
from gaussdyn.integrate.run.citations import bibtex

ROOT = Path(__file__).resolve().parents[2]
TRIED = """
import gaussdyn
from gaussdyn import build, simulate
run = simulate(build("launched_cube"), t_end=0.01)
run.view("view.html")
print(gaussdyn.__file__, gaussdyn.__version__, run.status)
"""


def test_the_version_is_one() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [__version__]
    assert f"version = {{{__version__}}}" in bibtex(("gaussdyn",))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[([^]]*)\]", changes, re.MULTILINE)[0] == __version__


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is built from the sdist, as package indexes do it."""
    pytest.importorskip("hatchling", reason="hatchling, which builds wheels, is not installed")
    place = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-d", str(place)]
    subprocess.run([*words, "-t", "sdist"], cwd=ROOT, check=True, timeout=120)
    (source,) = place.glob("*.tar.gz")
    unpacked = place / "source"
    subprocess.run([sys.executable, "-m", "tarfile", "-e", str(source), str(unpacked)], check=True, timeout=120)
    (inside,) = unpacked.iterdir()
    subprocess.run([*words, "-t", "wheel"], cwd=inside, check=True, timeout=120)
    (found,) = place.glob("*.whl")
    return found


@pytest.mark.slow
def test_a_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    package = ROOT / "gaussdyn"
    files = {path.relative_to(ROOT).as_posix() for path in package.rglob("*") if path.is_file()}
    files = {name for name in files if "__pycache__" not in name}
    with zipfile.ZipFile(wheel) as content:
        assert files == {name for name in content.namelist() if name.startswith("gaussdyn/")}


@pytest.mark.nightly  # it compiles its kernels anew: minutes
def test_a_wheel_runs_outside_of_the_repository(wheel: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    place = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as content:
        content.extractall(place)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(place)}
    run = subprocess.run(
        [sys.executable, "-c", TRIED], cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=600
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == [str(place / "gaussdyn" / "__init__.py"), __version__, "COMPLETED"]
    assert (elsewhere / "view.html").stat().st_size > 10_000
