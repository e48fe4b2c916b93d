"""Packed films: what comes out is what went in, to the step that was asked for, and small."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gaussdyn import build, simulate
from gaussdyn.report.view.film import film
from gaussdyn.report.view.packing import Pack, packed_film


def unpacked(text: str) -> tuple[dict[str, Any], list[NDArray[np.float64]]]:
    """Read as the page's script does: sums of differences whose lowest bit is their sign, bytes of one weight apart."""
    data = zlib.decompress(base64.b64decode(text))
    size = int.from_bytes(data[:4], "little")
    head, at, tables = json.loads(data[4 : 4 + size]), 4 + size, []
    for one in head["tables"]:
        count = one["rows"] * one["width"]
        weights = np.frombuffer(data[at : at + 4 * count], dtype=np.uint8).reshape(4, count).astype(np.int64)
        folded = (weights * np.array([1, 2**8, 2**16, 2**24])[:, None]).sum(axis=0)
        change = np.where(folded % 2, -(folded + 1) // 2, folded // 2).reshape(one["rows"], one["width"])
        tables.append(np.cumsum(change, axis=0) * one["step"])
        at += 4 * count
    assert at == len(data)
    return head["document"], tables


def test_numbers_come_back_to_the_step() -> None:
    x = np.random.default_rng(3).normal(scale=40.0, size=(200, 3, 2))
    pack = Pack()
    reference = pack.add(x, 1e-3)
    document, (table,) = unpacked(pack.text({"here": reference}))
    assert document == {"here": {"$": 0}}
    np.testing.assert_allclose(table, x.reshape(200, 6), atol=0.5001e-3)


def test_the_largest_numbers_do_not_turn_over() -> None:
    pack = Pack()
    pack.add([[1e30], [-1e30], [1e30], [0.0]], 1.0)
    _, (table,) = unpacked(pack.text({}))
    np.testing.assert_array_equal(table[:, 0], np.array([1, -1, 1, 0]) * (2.0**30 - 1))


def test_an_empty_table_is_a_table() -> None:
    pack = Pack()
    pack.add(np.zeros((0, 3)), 1.0)
    pack.add([[7.0]], 1.0)
    _, (none, seven) = unpacked(pack.text({}))
    assert none.size == 0
    assert seven.tolist() == [[7.0]]


def test_a_film_is_packed_whole() -> None:
    scene = build("launched_cube")
    run = simulate(scene, t_end=40 * scene.dt)
    found = film(scene.system, run)
    assert found is not None
    document, tables = unpacked(packed_film(found))
    cube = next(track for track in document["shapes"] if track["name"] == "cube")
    places = tables[cube["moving"]["at"]["values"]["$"]]
    np.testing.assert_allclose(places, run.q[:, :3], atol=1.1 * 10.0 ** -found["decimals"])
    np.testing.assert_allclose(tables[document["centre"]["$"]], run.q[:, :3], atol=1.1 * 10.0 ** -found["decimals"])
    counts = tables[document["contacts"]["counts"]["$"]][:, 0]
    assert counts.tolist() == [len(state) for state in found["contacts"]]
    forces = tables[document["contacts"]["force"]["$"]]
    true = np.array([line[4] for state in found["contacts"] for line in state])
    np.testing.assert_allclose(forces, true, atol=1e-4 * found["force"])


def test_a_shape_that_comes_and_goes_has_a_table_that_says_when() -> None:
    one = {"shape": "sphere", "name": "ball", "fixed": {}, "moving": {"at": [[0.0, 1.0, 2.0], None, [1.0, 1.0, 2.0]]}}
    found = {"shapes": [one], "contacts": [[], [], []], "force": 0.0, "decimals": 3, "t": [0.0, 1.0, 2.0]}
    document, tables = unpacked(packed_film(found))
    at = document["shapes"][0]["moving"]["at"]
    assert tables[at["there"]["$"]][:, 0].tolist() == [1.0, 0.0, 1.0]
    assert tables[at["values"]["$"]][2].tolist() == [1.0, 1.0, 2.0]


def test_motion_takes_about_a_byte_per_number() -> None:
    """Forty bodies that swing for ten seconds at 60 pictures a second: 3 numbers each."""
    t = np.arange(600)[:, None, None] / 60.0
    rates = np.random.default_rng(1).uniform(1.0, 8.0, size=(1, 40, 3))
    pack = Pack()
    pack.add(np.sin(rates * t), 1e-5)
    assert len(pack.text({})) < 2.5 * 600 * 40 * 3


def test_nothing_can_leave_the_script() -> None:
    """Base64 has no letters that end a script, whatever a body is called."""
    assert re.fullmatch(r"[A-Za-z0-9+/=]+", Pack().text({"name": "</script><b>&"}))
