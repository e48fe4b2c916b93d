"""Files of every kind that is read, and ways to damage them: cut, flipped, and with entries of another shape."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import h5py
import numpy as np

WRONG = (
    None, True, -1, 0, 3, 2**70, 0.5, 1e308, -1e-300, "", "x", "1/3", "1/0", "nan", "9" * 5000, [], [[]], {}, [None],
    [1, 2, 3], [[1, 2], [3]], {"kind": "lcp"}, "é\n",
)  # fmt: skip


def cut(data: bytes, chance: random.Random) -> bytes:
    """Return the beginning of a file."""
    return data[: chance.randrange(len(data))]


def flipped(data: bytes, chance: random.Random) -> bytes:
    """Return a file with other bytes at a few places, or zeros over a stretch."""
    new = bytearray(data)
    if chance.random() < 0.2:
        at = chance.randrange(len(new))
        stretch = min(chance.randrange(1, 600), len(new) - at)
        new[at : at + stretch] = bytes(stretch)
    for _ in range(chance.choice((1, 1, 2, 8, 40))):
        new[chance.randrange(len(new))] = chance.randrange(256)
    return bytes(new)


def reshaped(data: bytes, chance: random.Random) -> bytes:
    """Return a file that is one of its format still, with entries that are missing or something else."""
    change = _reshaped_hdf5 if data.startswith(b"\x89HDF") else _reshaped_json
    for _ in range(chance.choice((1, 1, 2))):
        data = change(data, chance)
    return data


WAYS: dict[str, Callable[[bytes, random.Random], bytes]] = {"cut": cut, "flipped": flipped, "reshaped": reshaped}


def damaged(data: bytes, seeds: range) -> Iterator[tuple[str, bytes]]:
    """Return damaged copies of a file, each with a name by which it is made again."""
    for seed in seeds:
        for name, way in WAYS.items():
            yield f"{name}-{seed}", way(data, random.Random(f"{name} {seed}"))


def _reshaped_json(data: bytes, chance: random.Random) -> bytes:
    document = json.loads(data)
    places = list(_places(document))
    holder, key = chance.choice(places) if places else (None, None)
    if holder is None or chance.random() < 0.03:
        return json.dumps(chance.choice(WRONG)).encode()
    if chance.random() < 0.2:
        del holder[key]
    elif isinstance(holder, list) and chance.random() < 0.2:
        holder.insert(key, holder[key])
    else:
        holder[key] = chance.choice(WRONG)
    return json.dumps(document).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])


def _reshaped_hdf5(data: bytes, chance: random.Random) -> bytes:
    image = io.BytesIO(data)
    with h5py.File(image, "r+") as file:
        names: list[str] = []
        file.visit(names.append)
        name = chance.choice([*names, *[""] * (1 + len(file.attrs))])
        item = file[name] if name else file
        if len(item.attrs) and chance.random() < 0.5:
            key = chance.choice(list(item.attrs))
            old = item.attrs[key]
            del item.attrs[key]
            if chance.random() < 0.8:
                item.attrs[key] = _other_attribute(old, chance)
        elif name:
            keep = {} if isinstance(item, h5py.Group) else dict(item.attrs)
            old = None if isinstance(item, h5py.Group) else item[()]
            del file[name]
            if chance.random() < 0.8:
                file[name] = _other_values(old, chance)
                file[name].attrs.update(keep)
    return image.getvalue()


def _other_attribute(old: Any, chance: random.Random) -> Any:
    text = old if isinstance(old, str) else None
    try:
        parsed = text is not None and text[:1] in "{[" and isinstance(json.loads(text), dict | list)
    except ValueError:
        parsed = False
    if text is not None and parsed and chance.random() < 0.7:
        return _reshaped_json(text.encode(), chance).decode()[:60_000]
    return chance.choice(["", "null", "[]", "{}", '{"t": 1}', "\ud7ff", 3, -1.5, np.nan, np.arange(4), b"\xff\xfe"])


def _other_values(old: Any, chance: random.Random) -> Any:
    shape = np.shape(old) if old is not None else (3,)
    plain = np.zeros(shape) if old is None or np.asarray(old).dtype.kind not in "iuf" else np.asarray(old)
    choices: list[Callable[[], Any]] = [
        lambda: np.float64(1.0), lambda: np.zeros(0), lambda: np.zeros((0, 3)), lambda: plain.ravel()[:-1],
        lambda: np.r_[plain.ravel(), plain.ravel()], lambda: plain[None], lambda: plain.T, lambda: plain * np.nan,
        lambda: -plain - 1, lambda: plain + 10**6, lambda: plain.astype(np.complex128), lambda: plain.astype(np.int8),
        lambda: np.full(shape, b"abc"), lambda: "text", lambda: np.bytes_(b"\xff\xfe"), lambda: plain * 1e300,
        lambda: np.full(shape, True), lambda: h5py.Empty("f8"), lambda: plain.astype(np.float32), lambda: np.zeros(5),
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        try:
            return chance.choice(choices)()
        except (TypeError, ValueError):
            return np.zeros(2)
