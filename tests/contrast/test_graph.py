"""Pair graphs: directions, weights, and the information diagram of figure 3."""

import pytest

from coview.contrast import Pair, PairGraph, core_graph, full_graph, jigsaw_graph
from coview.training import describe


def test_full_graph_of_four_has_twelve_directions():
    names = [pair.name for pair in full_graph(["a", "b", "c", "d"]).directed()]
    assert len(names) == len(set(names)) == 12
    assert {"a->b", "b->a", "c->d"} <= set(names)


def test_core_graph_has_only_pairs_with_the_core():
    pairs = list(core_graph("a", ["b", "c"]).directed())
    assert [pair.name for pair in pairs] == ["a->b", "b->a", "a->c", "c->a"]
    assert [pair.weight for pair in pairs] == [1, 1, 1, 1]


def test_weights_and_views_are_kept():
    graph = PairGraph([("b", "a"), ("a", "c", 2.5)])
    assert graph.views == ("b", "a", "c")
    assert {pair.name: pair.weight for pair in graph.directed()} == {
        "b->a": 1,
        "a->b": 1,
        "a->c": 2.5,
        "c->a": 2.5,
    }


def test_regions_are_those_of_figure_3():
    """Four views: the centre counts in all 6 objectives of the full graph, in 3 of the core view's."""
    full = full_graph(["1", "2", "3", "4"]).regions()
    core = core_graph("1", ["2", "3", "4"]).regions()
    assert len(full) == len(core) == 15
    for subset, weight in full.items():
        assert weight == {1: 0, 2: 1, 3: 3, 4: 6}[len(subset)]
    for subset, weight in core.items():
        assert weight == (len(subset) - 1 if "1" in subset else 0)


def test_regions_add_up_weights():
    regions = PairGraph([("a", "b", 2.0), ("b", "c", 0.5)]).regions()
    assert regions[frozenset("abc")] == 2.5
    assert regions[frozenset("ac")] == 0


def test_a_pair_is_one_direction():
    graph = PairGraph([("L", "ab"), Pair("L:jigsaw", "ab", 0.5), Pair("ab:jigsaw", "ab:jigsaw")])
    assert [(pair.name, pair.weight) for pair in graph.directed()] == [
        ("L->ab", 1),
        ("ab->L", 1),
        ("L:jigsaw->ab", 0.5),
        ("ab:jigsaw->ab:jigsaw", 1),
    ]
    assert graph.nodes == ("L", "ab", "L:jigsaw", "ab:jigsaw")
    assert graph.targets == ("L", "ab", "ab:jigsaw")  # nobody chooses among jigsaws of L: nothing to remember
    assert graph.views == ("L", "ab")
    assert graph != PairGraph([("L", "ab")])
    assert graph == eval(repr(graph))
    assert describe(graph)["one way"] == [["L:jigsaw", "ab", 0.5], ["ab:jigsaw", "ab:jigsaw", 1.0]]
    both = PairGraph([Pair("a", "b", 3.0), Pair("b", "a", 2.0)])
    assert [pair.name for pair in both.directed()] == ["a->b", "b->a"]
    assert both.of_views() == PairGraph([("a", "b", 2.5)])  # each is half an edge
    assert both.regions()[frozenset("ab")] == 2.5


def test_a_jigsaw_is_asked_for_what_its_view_is_asked_for():
    graph = jigsaw_graph(PairGraph([("L", "ab", 2.0), ("L", "ab:conv2")]), weight=0.25)
    jigsaws = {pair.name: pair.weight for pair in graph.one_way}
    assert jigsaws == {"L:jigsaw->ab": 0.5, "ab:jigsaw->L": 0.5}
    assert graph.edges == (("L", "ab", 2.0), ("L", "ab:conv2", 1.0))
    within = jigsaw_graph(PairGraph([("L", "ab")]), weight=0.25, within=True)
    assert {pair.name: pair.weight for pair in within.one_way} == {
        "L:jigsaw->ab": 0.25,
        "ab:jigsaw->L": 0.25,
        "L:jigsaw->L": 0.25,
        "ab:jigsaw->ab": 0.25,
    }
    alone = jigsaw_graph(PairGraph([("Lab", "Lab")]), within=True)
    assert [pair.name for pair in alone.directed()] == ["Lab->Lab", "Lab:jigsaw->Lab"]


def test_an_edge_with_itself_is_one_direction():
    assert [pair.name for pair in PairGraph([("rgb", "rgb")]).directed()] == ["rgb->rgb"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PairGraph([]), "at least one edge"),
        (lambda: PairGraph([("a", "b"), ("b", "a")]), "edge a-b is there twice"),
        (lambda: PairGraph([("a", "b"), Pair("b", "a")]), "edge b-a is there twice"),
        (lambda: PairGraph([Pair("a", "b", -2.0)]), "weight -2.0: give a positive number"),
        (lambda: PairGraph([Pair("a.x", "b")]), "without '.' and '->'.* got 'a.x'"),
        (lambda: PairGraph([("a", "b", -1.0)]), "weight -1.0: give a positive number"),
        (lambda: PairGraph([("a", "b", float("nan"))]), "weight nan"),
        (lambda: PairGraph([("a.x", "b")]), "without '.' and '->'.* got 'a.x'"),
        (lambda: core_graph("a", ["a", "b"]), "core view 'a' is also among the others"),
        (lambda: full_graph(["a"]), "two or more different views"),
        (lambda: full_graph(["a", "a"]), "two or more different views"),
    ],
)
def test_bad_graphs_say_why(make, message):
    with pytest.raises(ValueError, match=message):
        make()
