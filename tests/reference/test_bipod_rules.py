"""The rules of docs/friction.md for the bipod, in words of k_i = mu_i h / (2 a), against the engine."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from gaussdyn import build, outcome

PAGE = Path(__file__).resolve().parents[2] / "docs" / "friction.md"


def sliding(k1: float, k2: float, way: int) -> int:
    """Return the number of motions while it slides to the right (1) or to the left (-1)."""
    if k1 + k2 < 1.0:
        return 1
    return 2 if (k2 if way > 0 else k1) < 0.5 else 0


def resting(k1: float, k2: float, p: float) -> int:
    """Return the number of motions from rest; p = a P / (h F) has the sign of the force."""
    if p < 0.0:
        return resting(k2, k1, -p)
    return 3 if p < 1.0 and k2 < 0.5 and k1 * (1.0 - p) + k2 * (1.0 + p) > 1.0 else 1


@pytest.mark.parametrize("way", [1, -1, 0])
def test_the_rules_count_what_the_engine_finds(way: int) -> None:
    rng, seen = np.random.default_rng(way + 5), set()
    for _ in range(80):
        a, h, weight = rng.uniform(0.5, 2.0, 3)
        k1, k2 = rng.uniform(0.05, 1.0, 2)
        force = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.2, 6.0))
        mu1, mu2 = (min(2.0 * a * k / h, 2.0) for k in (k1, k2))
        k1, k2, p = mu1 * h / (2.0 * a), mu2 * h / (2.0 * a), a * weight / (h * force)
        scene = build("bipod", a=a, h=h, weight=weight, mu1=mu1, mu2=mu2, force=force, v0=float(way))
        count = sliding(k1, k2, way) if way else resting(k1, k2, p)
        seen.add((count, k2 > 0.5, k1 > 0.5, force > 0.0))
        assert outcome(scene, certify=False).count == count, (k1, k2, p)
    assert {count for count, *_ in seen} == ({0, 1, 2} if way else {1, 3})
    assert (1, way > 0, way < 0, True) in seen or not way  # one motion with the foot in front above 1/2: k1 + k2 < 1


def test_the_commands_of_the_page_give_what_it_says() -> None:
    """Every command of the bipod's tables, with the settings that follow it, and the outcome beside it."""
    text = PAGE.read_text(encoding="utf-8")
    lines = [line for line in text[text.index("## The bipod") :].splitlines() if line.startswith("|")]
    found = re.findall(
        r"`((?:gaussdyn outcome bipod|--set)[^`]*)`[^;|`]*? (UNIQUE|MULTIPLE|NONE)(?: (\d))?", "\n".join(lines)
    )
    assert len(found) == 7
    for command, verdict, count in found:
        settings = [word for word in shlex.split(command) if "=" in word]
        one = outcome(build("bipod", **{key: float(x) for key, x in (word.split("=") for word in settings)}))
        assert str(one.verdict) == verdict, command
        assert not count or one.count == int(count)
