"""The information diagram: every number stands in the region that it belongs to."""

from itertools import combinations

import numpy as np
import pytest

from coview.contrast.graph import PairGraph, core_graph, full_graph
from coview.reports.diagram import VENN, information_diagram, region_places, venn_regions

VIEWS = ("L", "ab", "depth", "normal", "flow", "labels", "semantics", "edges", "video")


def draw(graph):
    figure = information_diagram(graph.views, graph.edges, graph.regions())
    figure.canvas.draw()
    return figure


def inside(oval, x, y):
    """The ellipse by its two foci, written anew: the distances to both sum to less than the long axis."""
    long, short = max(oval.size) / 2, min(oval.size) / 2
    turn = np.radians(oval.angle if oval.size[0] >= oval.size[1] else oval.angle + 90)
    focus = np.sqrt(long**2 - short**2) * np.array([np.cos(turn), np.sin(turn)])
    point = np.array([x, y]) - oval.centre
    return np.linalg.norm(point - focus) + np.linalg.norm(point + focus) < 2 * long


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_all_regions_exist_and_share_no_point(count):
    masks = venn_regions(count)
    assert len(masks) == 2**count - 1
    assert masks.any(axis=(1, 2)).all()
    assert masks.sum(axis=0).max() == 1


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_place_of_each_region_is_inside_of_just_its_sets(count):
    views = VIEWS[:count]
    places = region_places(views)
    assert len(places) == 2**count - 1
    for subset, (x, y, room) in places.items():
        assert {view for view, oval in zip(views, VENN[count], strict=True) if inside(oval, x, y)} == subset
        assert room > 0.015


@pytest.mark.parametrize("count", [2, 3, 4])
def test_numbers_are_drawn_in_their_regions_and_nowhere_else(count):
    views = VIEWS[:count]
    subsets = [frozenset(subset) for size in range(1, count + 1) for subset in combinations(views, size)]
    regions = {subset: 100 + number if number % 3 else 0 for number, subset in enumerate(subsets)}
    venn = information_diagram(views, [], regions).axes[1]
    drawn = {}
    for text in venn.texts:
        if text.get_text().isdigit():
            x, y = text.get_position()
            place = frozenset(
                view for view, oval in zip(views, VENN[count], strict=True) if inside(oval, x, y)
            )
            drawn[place] = int(text.get_text())
    assert drawn == {subset: weight for subset, weight in regions.items() if weight}


def test_the_drawn_ellipses_are_the_ones_that_were_looked_at():
    venn = draw(full_graph(VIEWS[:4])).axes[1]
    for patch, oval in zip(venn.patches, VENN[4], strict=True):
        assert (patch.get_center(), patch.get_width(), patch.get_height(), patch.get_angle()) == (
            oval.centre,
            *oval.size,
            oval.angle,
        )


def test_numbers_of_the_paper():
    texts = [text.get_text() for text in draw(full_graph(VIEWS[:4])).axes[1].texts]
    assert sorted(text for text in texts if text.isdigit()) == ["1"] * 6 + ["3"] * 4 + ["6"]
    texts = [text.get_text() for text in draw(core_graph("L", VIEWS[1:4])).axes[1].texts]
    assert sorted(text for text in texts if text.isdigit()) == ["1"] * 3 + ["2"] * 3 + ["3"]


def test_names_do_not_lie_in_any_set():
    for ovals in VENN.values():
        for oval in ovals:
            assert not any(inside(other, *oval.label) for other in ovals)


@pytest.mark.parametrize("count", range(2, 10))
def test_graphs_of_any_size_are_drawn(count):
    figure = draw(full_graph(VIEWS[:count]))
    if count >= 5:
        bars = figure.axes[1].patches
        assert bars[0].get_height() == count * (count - 1) / 2
        assert len(bars) == min(26, 2**count - 1 - count)
        assert any("heaviest of" in text.get_text() for text in figure.texts) == (count > 5)


def test_one_view_by_itself_and_a_view_with_itself():
    information_diagram(["L"], [], {}).canvas.draw()
    draw(PairGraph([("L", "L"), ("L", "ab", 0.5), ("<b>$x$", "L", 2.0)]))


def test_five_views_without_any_pair():
    information_diagram(VIEWS[:5], [], {}).canvas.draw()


def test_heavier_pairs_have_wider_lines_with_their_weight():
    graph = draw(PairGraph([("L", "ab", 0.5), ("ab", "depth", 2.25)])).axes[0]
    thin, thick = (line.get_linewidth() for line in graph.lines)
    assert thin < thick
    assert {"0.5", "2.25"} <= {text.get_text() for text in graph.texts}


def test_no_views_are_refused():
    with pytest.raises(ValueError, match="at least one view"):
        information_diagram([], [], {})
