"""A disk that is full: said in words, and nothing that was kept is lost."""

from __future__ import annotations

import errno
import subprocess
import sys

import numpy as np
import pytest

from gaussdyn import InputError, study
from gaussdyn.studies import disk_room
from gaussdyn.studies.study_journal import runs_of
from tests.studies.users_module import number, square

RUNS = {"x": np.linspace(0.0, 1.0, 60)}
LIMITED = """
import resource, sys, numpy as np
from gaussdyn import InputError, study
from tests.studies.users_module import number, square
sys.dont_write_bytecode = True  # it would be cut, and kept
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))
try:
    study(number, {"x": np.linspace(0.0, 1.0, 60)}, square, where=1, out=sys.argv[1])
except InputError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_a_file_that_can_not_grow_ends_the_study_and_it_goes_on_with_room(tmp_path) -> None:
    out = tmp_path / "s.h5"
    said = subprocess.run([sys.executable, "-c", LIMITED, str(out)], capture_output=True, text=True, check=True)
    assert "make room and go on with resume=True" in said.stdout
    assert 0 < len(list(runs_of(tmp_path / "s.h5.journal"))) < 60
    study(number, RUNS, square, where=1, out=out, resume=True)
    study(number, RUNS, square, where=1, out=tmp_path / "whole.h5")
    assert out.read_bytes() == (tmp_path / "whole.h5").read_bytes()


def test_a_block_that_does_not_fit_is_not_begun(tmp_path, monkeypatch) -> None:
    out = tmp_path / "s.h5"
    monkeypatch.setattr(disk_room, "MARGIN", 2**60)
    with pytest.raises(InputError, match="bytes are left"):
        study(number, RUNS, square, where=1, out=out)
    monkeypatch.undo()
    assert len(study(number, RUNS, square, where=1, out=out, resume=True)) == 60


def test_only_a_full_disk_is_said_to_be_one(tmp_path) -> None:
    with pytest.raises(InputError, match="make room"), disk_room.room_on_disk(tmp_path):
        raise OSError(errno.EDQUOT, "Disk quota exceeded")
    with pytest.raises(InputError, match="make room"), disk_room.room_on_disk(tmp_path):
        raise RuntimeError("Unable to flush file (errno = 28, error message = 'No space left on device')")
    with pytest.raises(PermissionError), disk_room.room_on_disk(tmp_path):
        raise PermissionError(errno.EACCES, "Permission denied")
