"""What needs no estimate is said: constant views, views that fix each other; broken ones are refused."""

import math

import pytest
import torch

from coview.information.check import known_beforehand


@pytest.fixture
def table():
    return torch.randn(400, 3)


def test_identical_views_have_infinite_information(table):
    for view in (table, torch.randn(60, 2, 5, 5)):
        nats, why = known_beforehand(view, view.clone())
        assert nats == math.inf
        assert "identical: their information is infinite" in why


def test_affine_maps_of_each_other_and_a_component_in_common(table):
    shared = torch.cat([torch.randn(400, 2), table[:, 1:2]], 1) @ torch.randn(3, 3)
    for other in (3 - 100 * table @ torch.randn(3, 3), shared, table**3, -table[:, :1].exp()):
        nats, why = known_beforehand(table, other)
        assert nats == math.inf
        assert "fixed by the other" in why


def test_a_constant_view_shares_nothing(table):
    for one, other, place in (
        (table, torch.ones(400, 2), "second"),
        (torch.zeros(400, 1, 4, 4), table, "first"),
    ):
        nats, why = known_beforehand(one, other)
        assert nats == 0
        assert why.startswith(f"the {place} view is the same for all samples")


def test_what_needs_an_estimate(table):
    noisy = table + 1e-3 * torch.randn(400, 3)
    assert known_beforehand(table, noisy) is None
    assert known_beforehand(table, torch.randn(400, 5)) is None
    assert known_beforehand(torch.cat([table, torch.ones(400, 1)], 1), noisy) is None
    assert known_beforehand(torch.randn(30, 2, 5, 5), torch.randn(30, 2, 5, 5)) is None


def test_the_information_of_identical_classes_is_finite():
    classes = torch.randint(4, (400, 1)).float()
    assert known_beforehand(classes, classes) is None
    assert known_beforehand(torch.cat([classes, torch.randn(400, 1)], 1), 2 * classes) is None


def test_a_broken_view_is_refused_with_its_sample(table):
    broken = table.clone()
    broken[17, 1] = math.nan
    with pytest.raises(ValueError, match=r"the second view is not finite .NaN or infinite. at sample 17"):
        known_beforehand(table, broken)
