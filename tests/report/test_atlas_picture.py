"""The picture and the page of an atlas."""

from __future__ import annotations

import base64
import re
from functools import cache, partial

import numpy as np
import pytest

from gaussdyn.analysis.atlas.atlas import Axis, atlas
from gaussdyn.errors import InputError
from gaussdyn.report.atlas_pictures import _colours, draw_atlas, render_atlas, write_atlas_page
from gaussdyn.scenes.catalogue import build


@cache
def found(y="mu", low=0.0, high=3.0, **params):
    angle = Axis(name="angle", unit="rad", low=0.1, high=1.5, size=60)
    return atlas(partial(build, "painleve_rod"), angle, Axis(name=y, unit="1", low=low, high=high, size=60), params)


def texts(figure):
    (axis,) = figure.axes
    return [text.get_text() for text in axis.texts] + [text.get_text() for text in figure.legends[0].get_texts()]


def test_picture_names_its_regions_curves_and_points(tmp_path):
    path = tmp_path / "atlas.png"
    words = " | ".join(texts(draw_atlas(found("omega", -5.0, 5.0), path)))
    assert path.read_bytes().startswith(b"\x89PNG")
    for part in ("none", "slides on", "lift-off", "two", "A = 0", "b = 0", "A = b = 0", "%"):
        assert part in words


def test_picture_marks_the_least_critical_friction():
    words = " ".join(texts(draw_atlas(found())))
    assert "least critical mu = 1.33333" in words
    assert "63.4349°" in words


def test_colours_tell_every_region_apart():
    regions = found("omega", -5.0, 5.0).regions()
    colours = _colours(regions)
    assert len(set(colours)) == len(regions) == 4
    grey = [int(c[1:3], 16) * 0.299 + int(c[3:5], 16) * 0.587 + int(c[5:7], 16) * 0.114 for c in colours]
    by_count = {region.count: value for region, value in zip(regions, grey, strict=True)}
    assert abs(by_count[0] - by_count[1]) > 40  # none and one differ in brightness too


def test_page_is_self_contained_and_complete(tmp_path):
    path = write_atlas_page(tmp_path / "atlas.html", found("omega", -5.0, 5.0), command="gaussdyn atlas painleve_rod")
    page = path.read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="https?:', page)
    picture = re.search(r'src="data:image/png;base64,([^"]+)"', page)
    assert base64.b64decode(picture.group(1)).startswith(b"\x89PNG")
    for part in ("gaussdyn atlas painleve_rod", "two: lift-off or slides on", "A = b = 0", "55.585810", "69.951867"):
        assert part in page
    assert "nan" not in re.sub(r"base64,[^\"]+", "", page).lower()


def test_page_of_one_region_needs_no_curves():
    page = render_atlas(found(low=0.0, high=1.0))
    assert "one: slides on" in page
    assert "least critical" not in page


def test_unknown_ending_is_refused(tmp_path):
    with pytest.raises(InputError, match="png"):
        draw_atlas(found(), tmp_path / "atlas.xyz")


def test_picture_shows_the_cells():
    one = found()
    (axis,) = draw_atlas(one).axes
    image = np.asarray(axis.images[0].get_array())
    np.testing.assert_array_equal(image == 0, one.counts == 0)
