"""The one door through which files come in: whatever is wrong with one of them is said as a SceneError.

Files that this package writes end in a seal, the hash of all bytes before it. It is looked at first: the HDF5 library
may run for ever in a file some bytes of which are others. HDF5 reads nothing behind its own end, so that other programs
read sealed files as they are, and one that changes a file cuts the seal off. Files without a seal are read as they are.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from .errors import GaussdynError, InputError, SceneError, interrupts

SEAL = b"\ngaussdyn sha256 "
HASH = 32  # bytes
BLOCK = 1 << 20  # bytes read at once
DENSEST = 1100  # bytes that gzip makes of one, at most
ROOM = 1 << 16  # bytes of an entry that need not be there in the file: it may repeat one value
HEAD = b"\x89HDF\r\n\x1a\n"

PathLike = str | os.PathLike[str]


@contextmanager
def reading(path: PathLike) -> Iterator[None]:
    """Make of whatever goes wrong while the contents of a file are read a SceneError with the name of the file."""
    file = os.fspath(path)
    try:
        yield
    except InputError as error:
        raise SceneError(file, error.name, str(error)) from None
    except GaussdynError:
        raise
    except KeyError as error:
        raise SceneError(
            file,
            str(error.args[0]) if error.args else "",
            f"the entry is missing; damaged? ls -l {file}, and make it again",
        ) from None
    except Exception as error:
        if interrupts(error):
            raise
        raise SceneError(
            file, "", f"the file is damaged ({type(error).__name__}: {_short(error)}): ls -l {file}, and make it again"
        ) from error


@contextmanager
def hdf5(path: PathLike) -> Iterator[Any]:
    """Open an HDF5 file for reading; what is done with it in the block is `reading`.

    Raises
    ------
    SceneError
        There is no such file, it is no HDF5 file, truncated, or not as it was written.
    """
    import h5py

    with reading(path):
        check_seal(path)
        try:
            file = h5py.File(path, "r")
        except (OSError, RuntimeError) as error:
            place = os.fspath(path)
            reason = (
                f"not a readable HDF5 file ({_short(error)}); it may be truncated: ls -l {place}, and make it again"
            )
            raise SceneError(place, "", reason) from None
        with file:
            yield file


def values(dataset: Any) -> Any:
    """Return all of an HDF5 dataset.

    Raises
    ------
    ValueError
        It says to hold far more than the file does.
    """
    if dataset.shape is None:
        raise ValueError(f"{dataset.name} is empty")
    if dataset.size * dataset.dtype.itemsize > ROOM + DENSEST * dataset.id.get_storage_size():
        raise ValueError(f"{dataset.name} says to hold {dataset.shape}, which the file does not")
    return dataset[()]


def json_document(path: PathLike) -> Any:
    """Return the contents of a JSON file; NaN and Infinity are no numbers there.

    Raises
    ------
    SceneError
        There is no such file, or it holds something else.
    """
    file = os.fspath(path)
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_no_constant)
    except OSError as error:
        raise SceneError(file, "", f"cannot be opened ({error.strerror}); check the path: ls -l {file}") from None
    except UnicodeDecodeError:
        raise SceneError(
            file, "", f"neither FCLib HDF5 nor JSON; a truncated HDF5 file looks like this too: ls -l {file}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise SceneError(
            file, "", f"not valid JSON ({error}); it may be truncated: python -m json.tool {file}"
        ) from None


def is_hdf5(path: PathLike) -> bool:
    """Whether a file begins as HDF5 files do.

    Raises
    ------
    SceneError
        It cannot be opened.
    """
    try:
        with open(path, "rb") as stream:
            return stream.read(len(HEAD)) == HEAD
    except OSError as error:
        raise SceneError(
            os.fspath(path), "", f"cannot be opened ({error.strerror}); check the path: ls -l {os.fspath(path)}"
        ) from None


def unwritable(path: PathLike, error: Exception) -> str:
    """Return what to type where a file cannot be written: make its folder, make room, or see who may write there."""
    folder = Path(path).parent
    if not folder.is_dir():
        return f"There is no such folder: mkdir -p {folder}"
    look = "df -h" if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else "ls -ld"
    return f"{getattr(error, 'strerror', None) or _short(error)}: {look} {folder}"


def seal(data: bytes | memoryview) -> bytes:
    """Return what is to be written behind the bytes of a file."""
    return SEAL + hashlib.sha256(data).digest()


def seal_file(path: PathLike) -> None:
    """Write a seal at the end of a file."""
    with open(path, "r+b") as stream:
        hashed = _hash(stream, stream.seek(0, os.SEEK_END))
        stream.seek(0, os.SEEK_END)
        stream.write(SEAL + hashed)


def check_seal(path: PathLike) -> None:
    """Raise SceneError if a file has a seal, and other bytes than were sealed."""
    try:
        with open(path, "rb") as stream:
            size = stream.seek(0, os.SEEK_END) - len(SEAL) - HASH
            stream.seek(max(size, 0))
            mark = stream.read(len(SEAL))
            alike = sum(a == b for a, b in zip(mark, SEAL, strict=False))
            if size < 0 or alike <= len(SEAL) // 2:  # a byte of the mark may be another one, too
                return
            said = stream.read(HASH)
            if mark != SEAL or _hash(stream, size) != said:
                raise SceneError(
                    os.fspath(path),
                    "",
                    f"the file is damaged: it is not as it was written: ls -l {os.fspath(path)}, and fetch it again",
                )
    except OSError as error:
        raise SceneError(
            os.fspath(path), "", f"cannot be opened ({error.strerror}); check the path: ls -l {os.fspath(path)}"
        ) from None


def _hash(stream: BinaryIO, size: int) -> bytes:
    digest, left = hashlib.sha256(), size
    stream.seek(0)
    while left > 0 and (block := stream.read(min(left, BLOCK))):
        digest.update(block)
        left -= len(block)
    return digest.digest()


def _short(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:160]


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")
