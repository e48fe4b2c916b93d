"""Whatever a file holds, reading it ends, and what is wrong is said in one sentence."""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator
from pathlib import Path

import h5py
import pytest
from damage import damaged
from damaged_kinds import READERS, files

from gaussdyn.errors import GaussdynError, InvariantBroken, SceneError
from gaussdyn.integrate.run.trajectory import Trajectory

pytestmark = pytest.mark.xdist_group("damaged files")  # what they share is made once

Kinds = dict[str, tuple[bytes, str]]
HANGS = 60.0  # s for one file; the HDF5 library cannot be stopped but with its process


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> Kinds:
    return files(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(autouse=True)
def _watched() -> Iterator[None]:
    yield
    faulthandler.cancel_dump_traceback_later()


def read_all(kinds: Kinds, folder: Path, seeds: range, slow: tuple[str, ...] = ()) -> int:
    """Read damaged copies of every kind, and return how many were refused."""
    refused = 0
    for kind, (data, suffix) in kinds.items():
        for name, bad in damaged(data, seeds):
            path = folder / f"bad{suffix}"
            path.write_bytes(bad)
            for verb, reader in READERS[kind].items():
                if verb in slow:
                    continue
                faulthandler.dump_traceback_later(HANGS, exit=True)
                try:
                    reader(path)
                except Exception as error:
                    said = isinstance(error, GaussdynError) and not isinstance(error, InvariantBroken)
                    if not said or len(str(error).splitlines()) != 1:
                        raise AssertionError(f"{verb} of {kind}, damaged as {name}: {error!r}") from error
                    refused += 1
    return refused


def test_damaged_files_are_refused_or_read(kinds: Kinds, tmp_path: Path) -> None:
    assert read_all(kinds, tmp_path, range(3), slow=("audit", "outcome")) > 100


@pytest.mark.slow
def test_a_thousand_damaged_files_are_refused_or_read(kinds: Kinds, tmp_path: Path) -> None:
    assert 3 * 25 * len(kinds) > 1000
    assert read_all(kinds, tmp_path, range(1000, 1025)) > 1000


def test_any_other_byte_of_a_run_file_is_known(kinds: Kinds, tmp_path: Path) -> None:
    """Its seal is looked at first: in some such files the HDF5 library would run for ever."""
    data, path = bytearray(kinds["run"][0]), tmp_path / "run.h5"
    for at in (9, len(data) // 3, len(data) // 2, len(data) - 60, len(data) - 45, len(data) - 1):
        data[at] ^= 1
        path.write_bytes(data)
        with pytest.raises(SceneError, match="not as it was written"):
            Trajectory.load(path)
        data[at] ^= 1
    path.write_bytes(data)
    whole = Trajectory.load(path)
    with h5py.File(path, "a") as file:  # who changes it by intent cuts the seal off
        file["state/q"][0, 0] += 1.0
    assert Trajectory.load(path).q[0, 0] == whole.q[0, 0] + 1.0
