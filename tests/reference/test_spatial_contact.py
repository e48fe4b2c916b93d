"""One contact in space with known motions.

Angles and reactions come from another program that looked for roots on a grid of directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from spatial_contact_cases import SLENDER, contact, random_body

from gaussdyn.contact.outcome.outcome import Outcome, outcome
from gaussdyn.mechanics.spatial.body_file import ExactSpatialBody

GENERIC = {"J": [["1/50", 0, 0], [0, "9/50", 0], [0, 0, "17/100"]], "r": ["-13/10", "7/10", "-9/5"]}
TOP = {"J": [["1/2", 0, 0], [0, "1/2", 0], [0, 0, "1/4"]], "r": [0, 0, -2]}

CASES: list[Any] = [
    ({**SLENDER, "mu": "1/2", "F_star": ["-3/2", "33/20", -1]}, [
        ("S", None, [0.20318725099601634, -0.09362549800796832, -0.032352941176470584]),
        ("+", 34.459882498568675, [0.10231360438947971, -0.04217993823863466, -0.02894600526802803]),
        ("+", 63.75979844220782, [0.0346101780792485, -0.007651190820416736, -0.015521771345400436])]),
    ({**SLENDER, "mu": "1/10", "F_star": ["-49/25", 0, -1]}, [
        ("S", None, [0.019920318725099643, -0.00015936254980079682, 0])]),
    ({**SLENDER, "mu": "1/10", "F_star": [1, "1/2", -1]}, [
        ("+", 9.246315502553252, [0.02431319302959161, -0.002399728445091722, -0.00039066218496225955])]),
    ({**SLENDER, "mu": "11/20", "F_star": ["77/20", "3/10", 1]}, [
        ("D", None, [0, 0, 0]),
        ("S", None, [0.7330677290836669, -0.3838645418326701, -0.0058823529411764705]),
        ("+", 2.0754089111667122, [0.2522754235545508, -0.13866046601282092, -0.005024856945208383])]),
    ({**GENERIC, "mu": "27/50", "F_star": ["683/100", "573/50", -1]}, [
        ("S", None, [0.43533303257107797, 0.0015169511581842614, -0.22489786409490456]),
        ("+", 64.59620373357183, [0.13947129894578889, -0.03230954341629048, -0.06803210661143509]),
        ("+", 79.78855826560961, [0.3770351525827552, -0.036094287523920264, -0.20037402037263458])]),
    ({**TOP, "mu": 3, "F_star": [2, 1, -1]}, [("S", None, [1, -0.2222222222222222, -0.1111111111111111])]),
]  # fmt: skip


def solved(data: dict[str, Any], **options: Any) -> Outcome:
    found = outcome(ExactSpatialBody.of(data), **options)
    assert found.exact
    assert found.certificate is not None
    assert found.certificate.verify()
    return found


@pytest.mark.parametrize(("data", "expected"), CASES)
def test_all_motions(data: dict[str, Any], expected: Any) -> None:
    found = solved(data).solutions()
    assert len(found) == len(expected)
    for one, (letter, angle, reaction) in zip(found, expected, strict=True):
        assert one["modes"] == [letter]
        assert one["angle_deg"] == (None if angle is None else pytest.approx(angle, abs=1e-11))
        assert one["reaction"] == pytest.approx(reaction, abs=1e-14)


@pytest.mark.parametrize(("load", "reactions"), [(-1, []), (1, [0.0, 0.25])])
def test_sliding_beyond_critical_friction_has_none_or_two(load: int, reactions: list[float]) -> None:
    found = solved({**SLENDER, "mu": "11/20", "F_star": [0, 0, load], "slip": [1, 0]})
    assert [one["reaction"][0] for one in found.solutions()] == reactions


@pytest.mark.parametrize(("mu", "count"), [("50/100", 1), ("51/100", 0), ("52/100", 0)])
def test_critical_friction_of_sliding(mu: str, count: int) -> None:  # b33 = 51, b = (100, 0): mu* = 51/100
    found = solved({**SLENDER, "mu": mu, "F_star": [0, 0, -1], "slip": [3, 0]})
    assert found.count == count
    assert ("critical" in found.reason) == (mu == "51/100")


def test_from_rest_there_is_one_motion_or_three() -> None:  # equal friction at rest and in slip
    rng, counts = np.random.default_rng(5), []
    for _ in range(60):
        W = random_body(rng)
        counts.append(outcome(contact(W, W @ rng.normal(size=3) * 0.3 + rng.normal(size=3), 2.0), certify=False).count)
    assert set(counts) == {1, 3}
