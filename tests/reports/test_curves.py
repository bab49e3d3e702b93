"""Curves of every pair, for any number of pairs and whatever was logged of them."""

from itertools import permutations

import numpy as np
import pytest

from coview.reports.curves import pair_curves
from coview.reports.look import BLUE, VERMILLION

VIEWS = ("L", "ab", "depth", "normal", "flow", "labels")


def history(names, steps=40, **changed):
    rows = []
    for step in range(1, steps + 1):
        terms = {name: 5.0 - 0.01 * step * (1 + number) for number, name in enumerate(names)}
        bounds = {name: 6.0 - loss for name, loss in terms.items()}
        ceilings = dict.fromkeys(names, 6.0)
        row = {
            "step": step,
            "loss": sum(terms.values()),
            "terms": terms,
            "bounds": bounds,
            "ceilings": ceilings,
        }
        rows.append(row | changed)
    return rows


def directions(count):
    return [f"{one}->{other}" for one, other in permutations(VIEWS[:count], 2)]


def shown(figure):
    return [axes for axes in figure.axes if axes.get_visible()]


def lines(axes, colour):
    return [line for line in axes.lines if line.get_color() == colour]


@pytest.mark.parametrize("count", range(2, 7))
def test_a_panel_for_each_unordered_pair_with_both_directions(count):
    figure = pair_curves(history(directions(count)))
    figure.canvas.draw()
    assert len(shown(figure)) == count * (count - 1) // 2
    for axes in shown(figure):
        for colour in (VERMILLION, BLUE):
            first, second = lines(axes, colour)
            assert first.get_linestyle() != second.get_linestyle()


def test_a_line_shows_what_was_logged_and_its_end_is_written():
    rows = history(["L->ab", "ab->L"])
    (axes,) = shown(pair_curves(rows))
    for colour, kind in ((VERMILLION, "terms"), (BLUE, "bounds")):
        for line, name in zip(lines(axes, colour), ("L->ab", "ab->L"), strict=True):
            assert list(line.get_ydata()) == pytest.approx([row[kind][name] for row in rows])
    assert {text.get_text() for text in axes.texts} == {"4.40", "1.60"}
    assert axes.get_title("left") == "L – ab"


def test_ends_that_meet_are_written_apart():
    terms = {"L->ab": 3.0}
    figure = pair_curves([{"step": step, "terms": terms, "bounds": terms} for step in (1, 2)])
    figure.canvas.draw()
    one, other = (text.get_window_extent() for text in shown(figure)[0].texts)
    assert not one.overlaps(other)


def test_a_long_history_is_averaged_in_groups():
    noise = np.random.default_rng(0).normal(size=10_000)
    rows = [{"step": step, "terms": {"L->ab": float(value)}} for step, value in enumerate(noise, start=1)]
    (line,) = lines(shown(pair_curves(rows))[0], VERMILLION)
    assert len(line.get_xdata()) == 250
    assert line.get_xdata()[-1] == 10_000
    assert line.get_ydata()[0] == pytest.approx(noise[:40].mean())


@pytest.mark.parametrize(
    "names", [["L->L"], ["prediction"], ["L->ab"], ["$L$->a very long name of a view", "<b>->L"]]
)
def test_other_names_are_shown_too(names):
    figure = pair_curves(history(names))
    figure.canvas.draw()
    assert len(shown(figure)) == len(names)


@pytest.mark.parametrize(
    "rows",
    [
        history(["L->ab"], steps=1),
        history(["L->ab"], bounds={}, ceilings={}),
        history(["L->ab"], terms={"L->ab": float("nan")}, bounds={"L->ab": float("-inf")}),
        [
            {"step": 1, "terms": {"L->ab": 1.0}},
            {"step": 2, "terms": {"ab->L": 1.0}},
            {"step": 3, "loss": 1.0},
        ],
    ],
)
def test_gaps_and_failed_runs_are_drawn(rows):
    pair_curves(rows).canvas.draw()


def test_a_run_without_steps_says_so():
    figure = pair_curves([])
    assert [text.get_text() for text in figure.texts] == ["no steps were logged"]
