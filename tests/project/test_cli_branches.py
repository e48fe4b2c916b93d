"""``gaussdyn branches``: one configuration, all points on the way, and what is refused."""

from __future__ import annotations

import json

import pytest

from gaussdyn.cli import main


def ask(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["branches", *arguments])
    said = capsys.readouterr()
    return stop.value.code, said.out, said.err


def test_one_configuration(capsys):
    code, out, _ = ask(capsys, "singular_pendulum", "--at", "0,0", "--json")
    (point,) = json.loads(out)["points"]
    assert code == 0
    assert point["kind"] == "crossing"
    assert len(point["branches"]) == 2


@pytest.mark.slow
def test_all_points_on_the_way_with_their_reactions(capsys):
    code, out, _ = ask(capsys, "singular_pendulum", "--along", "--t-end", "1", "--json")
    (point,) = json.loads(out)["points"]
    assert code == 0
    assert point["t"] == pytest.approx(0.7075279697535, abs=1e-9)
    assert point["loads"]["lam_limit"][0] == pytest.approx(-2.596, abs=1e-3)
    code, out, _ = ask(capsys, "singular_pendulum", "--along")
    assert (code, out.strip()) == (0, "no branch point on the way")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("singular_pendulum", "--at", "0,x"), "numbers with commas"),
        (("singular_pendulum", "--at", "0.3,0.3"), "rod: gap"),
        (("singular_pendulum", "--at", "0,0", "--along"), "nothing beside --along"),
        (("singular_pendulum", "--at", "0,0", "--max-branches", "1"), "--max-branches"),
    ],
)
def test_refused(capsys, arguments, words):
    code, _, err = ask(capsys, *arguments)
    assert code == 2
    assert words in err
