"""Figures of a study: what is drawn is what was measured, and the paper's numbers are marks of their own."""

from itertools import pairwise

import pytest

from coview.reports.comparison import bars, curve, scatter
from coview.reports.outcome import Line, Numbers, columns_of

LINES = [
    Line("few", {"fc7": Numbers((40.0, 43.0)), "nats": Numbers((3.5,))}, {"fc7": 41.25}, at=64),
    Line("many", {"fc7": Numbers((52.0, 53.0, 57.0))}, {"fc7": 55.5}, at=4096),
    Line("failed", {}, {}, at=512),
    Line("random", {"fc7": Numbers((20.5,)), "nats": Numbers((0.25,))}),
    Line("another's", {}, {"fc7": 48.0}),
]


def drawn(panel) -> list[list[float]]:
    return [[float(value) for value in line.get_ydata()] for line in panel.lines]


def test_columns():
    assert columns_of(LINES) == ["fc7", "nats"]


def test_a_bar_a_row_with_its_spread_and_the_papers_number():
    figure = bars(LINES, "the paper, stl10")
    first, second = figure.axes
    assert [bar.get_width() for bar in first.patches] == [41.5, 54.0, 20.5]
    assert [bar.get_y() + bar.get_height() / 2 for bar in first.patches] == pytest.approx([0, 1, 3])
    assert [label.get_text() for label in first.get_yticklabels()] == [line.name for line in LINES]
    marks = [line.get_xdata()[0] for line in first.lines if line.get_marker() == "D"]
    assert marks == [41.25, 55.5, 48.0]
    whiskers = [path.vertices[:, 0].tolist() for one in first.collections for path in one.get_paths()]
    assert whiskers[0] == pytest.approx([41.5 - 4.5**0.5, 41.5 + 4.5**0.5])
    assert [bar.get_width() for bar in second.patches] == [3.5, 0.25]
    assert [text.get_text() for text in figure.legends[0].texts][-1] == "the paper, stl10"


def test_a_curve_with_error_bars_the_papers_and_level_lines():
    figure = curve(LINES, "the paper", axis="negatives", logarithmic=True)
    (panel,) = figure.axes
    assert (panel.get_xscale(), panel.get_xlabel()) == ("log", "negatives")
    assert [41.5, 54.0] in drawn(panel)
    assert [41.25, 55.5] in drawn(panel)
    assert [20.5, 20.5] in drawn(panel)
    assert sorted(text.get_text() for text in panel.texts) == ["random 0.2", "random 20.5"]
    assert [label.get_text() for label in panel.get_xticklabels()] == ["few", "many", "failed"]
    spread = panel.collections[0].get_paths()[0].vertices[:, 1].tolist()
    assert spread == pytest.approx([41.5 - 4.5**0.5, 41.5 + 4.5**0.5])


def test_numbers_of_different_kinds_are_drawn_apart():
    figure = curve(LINES, "the paper", axis="negatives", apart=True)
    first, second = figure.axes
    assert [41.5, 54.0] in drawn(first)
    assert drawn(second)[0] == [3.5]


def test_level_lines_are_named_clear_of_each_other():
    near = [Line(f"bound {n}", {"fc7": Numbers((50.0 + n / 100,))}) for n in range(4)]
    (panel,) = curve([*LINES[:2], *near], "", axis="").axes
    heights = sorted(text.get_position()[1] for text in panel.texts)
    assert all(after - before > 0.04 for before, after in pairwise(heights))


def test_a_point_a_row_with_both_spreads():
    figure = scatter(LINES, "the paper", across="nats", up="fc7")
    (panel,) = figure.axes
    assert [text.get_text() for text in panel.texts] == ["few", "random"]
    points = [line.get_xdata()[0] for line in panel.lines if line.get_marker() == "o"]
    assert points == [3.5, 0.25]
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("nats", "fc7")


@pytest.mark.parametrize(
    "draw",
    [bars, lambda *given: curve(*given, axis="x"), lambda *given: scatter(*given, across="nats", up="fc7")],
)
def test_before_anything_was_measured_the_figure_says_so(draw):
    figure = draw([Line("few", at=3.0)], "the paper")
    assert [text.get_text() for text in figure.texts] == ["no run has come to a number yet"]
