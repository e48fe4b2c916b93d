"""The picture of a cross-check: what is drawn, and what is said where there is nothing to draw."""

from __future__ import annotations

import pytest

from gaussdyn.analysis.crosscheck.orders import Order, order_of
from gaussdyn.analysis.crosscheck.results import Compared, CrossCheck, Gap, Level
from gaussdyn.report.crosscheck_pictures import draw_crosscheck, render_crosscheck, write_crosscheck_page

pytest.importorskip("matplotlib")
QUANTITIES = ("position", "velocity", "reaction")


def made_up(stiffness):
    def level(N):
        gaps = {key: Gap(value=2.0 / N if N == N else 0.0, t=0.5, name="q0") for key in QUANTITIES}
        return Level(stiffness=N, gaps=gaps, fast_start=0.0, fast_end=0.0, t_reached=1.0)

    orders = {key: order_of(stiffness, [2.0 / N for N in stiffness], 0.0) for key in QUANTITIES}
    penalty = Compared(name="penalty", levels=tuple(map(level, stiffness)), orders=orders)
    smooth = Compared(name="smooth", levels=(level(float("nan")),), orders=dict.fromkeys(QUANTITIES, Order(value=None)))
    return CrossCheck(scene="made up", params={}, t_end=1.0, start="given", reference="smooth",
                      floor=dict.fromkeys(QUANTITIES, 1e-9), results=(penalty, smooth))  # fmt: skip


def test_errors_over_the_stiffness_with_their_orders():
    sheet = draw_crosscheck(made_up([1e3, 1e4, 1e5]))
    for axis, quantity in zip(sheet.axes, QUANTITIES, strict=True):
        line, floor = axis.lines
        assert list(line.get_xdata()) == [1e3, 1e4, 1e5]
        assert list(line.get_ydata()) == [2e-3, 2e-4, 2e-5]
        assert line.get_label() == "penalty, order 1.000 [1.000, 1.000]"
        assert floor.get_label() == "error of the rigid run"
        assert (axis.get_xscale(), axis.get_yscale(), axis.get_title("left")) == ("log", "log", quantity)
        assert axis.get_ylabel()


def test_nothing_over_n_is_said():
    for axis in draw_crosscheck(made_up([])).axes:
        assert [text.get_text() for text in axis.texts] == ["nothing to draw over N"]
        assert not axis.lines


@pytest.mark.slow
def test_page_has_picture_orders_intervals_and_the_command(tmp_path):
    pytest.importorskip("jinja2")
    check, command = made_up([1e3, 1e4, 1e5]), "gaussdyn crosscheck made_up"
    page = render_crosscheck(check, command=command)
    assert page.count("data:image/png;base64,") == 1
    assert "http" not in page
    assert command in page
    assert '<td data-label="95 % interval">1.000 .. 1.000</td>' in page
    assert "nan" not in page
    assert write_crosscheck_page(tmp_path / "check.html", check, command=command).read_text() == page
