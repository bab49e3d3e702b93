"""Curves of the looks at encoders while they trained."""

import pytest

from coview.reports.curves import pair_curves
from coview.reports.looks import look_curves


def history():
    steps = [{"step": step, "epoch": step / 10, "terms": {"L->ab": 3.0}} for step in (5, 10, 20)]
    looks = [
        {"step": step, "epoch": step / 10, "probes": {"knn": 20.0 + step, "linear": 30.0 + step}}
        for step in (0, 10, 20)
    ]
    return [looks[0], *steps[:2], looks[1], steps[2], looks[2] | {"probes": {"knn": 40.0}}]


def test_a_curve_for_each_number_by_epoch():
    figure = look_curves(history())
    figure.canvas.draw()
    (axes,) = figure.axes
    drawn = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}
    assert drawn == {
        "knn  40.0": ([0.0, 1.0, 2.0], [20.0, 30.0, 40.0]),
        "linear  40.0": ([0.0, 1.0], [30.0, 40.0]),
    }


def test_names_of_a_users_own_are_written_as_they_are():
    rows = [{"step": 1, "epoch": 1.0, "probes": {"$x_1$": 3.0, "a name that is far too long": 4.0}}]
    figure = look_curves(rows)
    figure.canvas.draw()
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        r"\$x_1\$  3.0",
        "a name that is…  4.0",
    ]


def test_curves_of_pairs_do_not_mind_looks():
    figure = pair_curves(history())
    figure.canvas.draw()
    assert list(figure.axes[0].lines[0].get_xdata()) == [5, 10, 20]


def test_no_looks_is_refused():
    with pytest.raises(ValueError, match="at least one look, came none"):
        look_curves([{"step": 1, "terms": {}}])
