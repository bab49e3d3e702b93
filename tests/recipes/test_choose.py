"""Which views to contrast: the graph and the cuts that estimates favour, for plans of which it is known."""

import math

import pytest
import torch

from coview.contrast import PairGraph, core_graph, full_graph
from coview.information import Estimate
from coview.recipes.choose import Sharing, advise, best_core, channels, cuts, joined, survey


def sharing(views, **nats):
    """Estimates by names of pairs, as ab=1.5; all other pairs share nothing."""
    pairs = {frozenset(pair): value for pair, value in nats.items()}
    estimates = {
        frozenset((a, b)): Estimate("MINE", pairs.get(frozenset((a, b)), 0.0), 0.01, 900, 225)
        for n, a in enumerate(views)
        for b in views[n + 1 :]
    }
    return Sharing(tuple(views), estimates)


def test_a_star_favours_its_core_view():
    advice = advise(sharing("abcd", ac=1.0, bc=1.5, cd=0.8, ab=0.2))
    assert advice.graph == core_graph("c", ["a", "b", "d"])
    assert (
        "core view c: the pairs of c, the best core view, have 94% of what all pairs share" in advice.reasons
    )


def test_information_everywhere_favours_the_full_graph():
    advice = advise(sharing("abc", ab=1.0, ac=1.1, bc=0.9))
    assert advice.graph == full_graph(["a", "b", "c"])
    assert "have 70% of what all pairs share, the rest is between the others" in advice.reasons[-1]


def test_pairs_that_share_nothing_have_no_edge():
    advice = advise(sharing("abcd", ab=1.0, bc=1.0, cd=1.0, ad=1.0, ac=0.04))
    assert advice.graph == PairGraph([("a", "b"), ("a", "d"), ("b", "c"), ("c", "d")])
    assert "a and c share nothing: no edge between them" in advice.reasons


def test_a_view_that_shares_nothing_is_left_out():
    found = sharing("abcd", ab=1.0, ac=1.1, bc=0.9, ad=0.03)
    assert found.alone == ("d",)
    advice = advise(found)
    assert advice.graph == full_graph(["a", "b", "c"])
    assert advice.reasons[0] == "d shares nothing with any other view: left out"
    assert all("d" not in cut.first + cut.second for cut in cuts(found))
    assert advise(sharing("abc", ab=1.0)).graph == full_graph(["a", "b"])


def test_a_core_view_is_not_contrasted_with_what_it_shares_nothing_with():
    advice = advise(sharing("abcd", ab=2.0, ac=2.0, cd=0.5))
    assert advice.graph == core_graph("a", ["b", "c"])
    assert "d shares nothing with a: left out of its pairs" in advice.reasons


def test_what_does_not_stand_out_of_its_spread_is_nothing():
    estimates = {frozenset("ab"): Estimate("MINE", 0.2, 0.3, 900, 225)}
    advice = advise(Sharing(("a", "b"), estimates))
    assert advice.graph is None
    assert advice.reasons[-1].startswith("no two views share anything")


def test_views_that_fix_each_other_are_named_and_counted_as_the_most_there_is():
    found = sharing("abc", ab=math.inf, ac=1.0, bc=1.2)
    assert found.same == (("a", "b"),)
    assert best_core(found, "abc") == ("b", pytest.approx(2.4 / 3.4))
    assert "a and b fix each other: contrast between them discards nothing" in advise(found).reasons


def test_cuts_come_in_the_order_of_what_their_groups_share():
    found = cuts(sharing("abc", ab=3.0, ac=0.5, bc=1.0))
    assert [(cut.name, cut.across) for cut in found] == [
        ("a b | c", 0.75),
        ("a | b c", 1.75),
        ("a c | b", 2.0),
    ]
    assert len(cuts(sharing("abcd", ab=1, ac=1, ad=1, bc=1, bd=1, cd=1))) == 7


def test_a_cut_between_groups_that_share_nothing_is_none():
    found = cuts(sharing("abcd", ab=1.0, cd=1.0))
    assert "a b | c d" not in [cut.name for cut in found]
    assert found


def test_too_many_views_to_cut():
    names = "abcdefghijklm"
    everything = {a + b: 1.0 for n, a in enumerate(names) for b in names[n + 1 :]}
    with pytest.raises(ValueError, match="13 views can be cut in two in too many ways: choose 12 at most"):
        cuts(sharing(names, **everything))


def test_a_survey_asks_for_every_pair_once():
    asked = list(survey(["a", "b", "c"], lambda one, other: (one, other), lambda pair: "".join(pair)))
    assert asked == [(("a", "b"), "ab"), (("a", "c"), "ac"), (("b", "c"), "bc")]
    for views in (["a"], ["a", "a"], ["a", "b", "a"]):
        with pytest.raises(ValueError, match="two or more different views"):
            list(survey(views, lambda one, other: (one, other), lambda pair: pair))


def test_channels_and_groups_of_views_are_views():
    fields = {"map": torch.randn(5, 3, 4, 2), "clip": torch.randn(5, 7, 3, 4, 2), "table": torch.randn(5, 3)}
    for name, values in fields.items():
        parts = channels(lambda fields, name=name: fields[name], name, 3)
        assert list(parts) == [f"{name}0", f"{name}1", f"{name}2"]
        axis = 1 if values.ndim == 2 else values.ndim - 3
        torch.testing.assert_close(parts[f"{name}2"](fields), values.narrow(axis, 2, 1))
        torch.testing.assert_close(joined(list(parts.values()))(fields), values)
