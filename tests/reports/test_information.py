"""Figures of estimates: what was seen at each look, and nothing that was not."""

import math
from itertools import pairwise

import pytest
from matplotlib.colors import to_hex

from coview.information import Estimate
from coview.information.train import Look
from coview.reports.information import estimate_curves, pair_matrix
from coview.reports.look import BLUE, VERMILLION

CURVES = (
    (Look(0, 0.0, 0.0), Look(10, 1.5, 1.2), Look(20, 2.0, 1.4)),
    (Look(0, 0.0, 0.0), Look(10, 1.4, -9.0), Look(20, 2.2, 1.5)),
)
FOUND = Estimate(
    "MINE",
    nats=1.45,
    spread=0.1,
    samples=800,
    held_out=200,
    by_seed=(1.4, 1.5),
    training=2.1,
    ceiling=2.4,
    others={"InfoNCE": 1.44, "NWJ": 1.3},
    curves=CURVES,
)


def drawn(panel, colour):
    return [
        line.get_ydata()
        for line in panel.lines
        if to_hex(line.get_color()) == colour and len(line.get_xdata()) > 2
    ]


def test_a_line_a_seed_for_pairs_learned_from_and_for_others():
    (panel,) = estimate_curves(FOUND, title="rooms").axes
    assert [list(line) for line in drawn(panel, VERMILLION)] == [[0.0, 1.5, 2.0], [0.0, 1.4, 2.2]]
    assert [list(line) for line in drawn(panel, BLUE)] == [[0.0, 1.2, 1.4], [0.0, -9.0, 1.5]]
    low, high = panel.get_ylim()
    assert -1 < low < 0  # what blew up for once does not flatten the rest
    assert high > 2.4  # the ceiling is near, and is seen
    assert panel.get_xlim() == (0, 20)


def test_all_bounds_are_told_clear_of_each_other_and_in_order():
    (panel,) = estimate_curves(FOUND).axes
    texts = sorted(panel.texts, key=lambda text: text.get_position()[1])
    assert [text.get_text() for text in texts] == ["NWJ 1.30", "InfoNCE 1.44", "MINE 1.45"]
    places = [text.get_position()[1] for text in texts]
    assert all(b - a > 0.05 for a, b in pairwise(places))


def test_a_far_ceiling_is_not_drawn():
    far = Estimate(**{**vars(FOUND), "ceiling": 9.0})
    (panel,) = estimate_curves(far).axes
    assert panel.get_ylim()[1] < 3


def test_what_needed_no_estimate_is_told():
    figure = estimate_curves(Estimate("MINE", math.inf, 0.0, 9, 0, warnings=("the views are identical",)))
    assert not figure.axes
    assert "the views are identical" in [text.get_text() for text in figure.texts]


def test_a_square_for_every_pair_in_both_places():
    nats = {frozenset("ab"): 2.0, frozenset("ac"): 0.5, frozenset("bc"): math.inf}
    (panel,) = pair_matrix("abc", nats, title="pairs").axes
    texts = sorted(text.get_text() for text in panel.texts)
    assert texts == ["0.50", "0.50", "2.00", "2.00", "∞", "∞"]
    shades = {
        text.get_text(): sum(panel.patches[n].get_facecolor()[:3]) for n, text in enumerate(panel.texts)
    }
    assert shades["0.50"] > shades["2.00"] >= shades["∞"]


@pytest.mark.parametrize("nats", [0.0, -0.01])
def test_pairs_that_share_nothing(nats):
    (panel,) = pair_matrix(["one view", "another"], {frozenset(["one view", "another"]): nats}).axes
    assert len(panel.patches) == 2
