"""Canonical directions: what was mixed is told apart again, and what a small draw makes up is not believed."""

import pytest
import torch

from coview.information import gaussian_correlation, gaussian_pairs
from coview.information.canonical import MOST, Straight, canonical, whiten, whitened


@pytest.fixture
def pairs():
    """Two dimensions with a correlation, and one of the first view and two of the second without."""
    first, second = gaussian_pairs(2.0, 2, 6000)
    return torch.cat([first, torch.randn(6000, 1)], 1), torch.cat([second, torch.randn(6000, 2)], 1)


def test_correlations_are_those_of_the_components(pairs):
    one, other, correlation = canonical(*pairs)
    truth = gaussian_correlation(2.0, 2)
    torch.testing.assert_close(correlation, torch.tensor([truth, truth, 0.0]), atol=0.03, rtol=0)
    both = torch.cat([one(pairs[0]), other(pairs[1])], 1)
    wanted = torch.eye(7)
    wanted[:3, 3:6] = wanted[3:6, :3] = torch.diag(correlation)
    torch.testing.assert_close(torch.cov(both.T), wanted, atol=0.05, rtol=0)


def test_an_affine_map_of_a_view_changes_nothing(pairs):
    first, second = pairs
    moved = first @ torch.randn(3, 3) * 100 - 7
    (one, _, correlation), (same, _, found) = canonical(first, second), canonical(moved, second)
    torch.testing.assert_close(found, correlation, atol=1e-3, rtol=0)
    inner = one(first).T @ same(moved) / len(first)  # a rotation
    torch.testing.assert_close(inner @ inner.T, torch.eye(3), atol=0.02, rtol=0)


@pytest.mark.parametrize("bend", [torch.exp, lambda x: x**3, lambda x: -torch.sinh(3 * x)])
def test_a_rising_or_falling_map_of_a_component_is_taken_off(bend):
    plain = torch.randn(5000, 2)
    found = Straight(bend(plain))(bend(plain))
    sign = torch.sign(bend(torch.tensor(1.0)) - bend(torch.tensor(0.0)))
    assert float((found - sign * plain).abs().mean()) < 0.04
    assert float(found.abs().max()) < 4.0


def test_without_heavy_tails_it_is_only_standardised():
    """Of groups far from each other, normal scores would fill the gaps."""
    view = 5 + 0.1 * torch.stack([torch.randn(4000), torch.rand(4000), torch.randn(4000).sign()], 1)
    straight = Straight(view)
    assert not straight.bent.any()
    torch.testing.assert_close(straight(view), (view - view.mean(0)) / view.std(0))


def test_beyond_what_was_seen_the_map_is_level():
    view = torch.rand(3000, 1) ** 9
    straight = Straight(view)
    ends = straight(torch.tensor([[-1.0], [0.0], [view.max()], [9.0]])).squeeze(1)
    assert ends[0] == ends[1] <= -3
    assert ends[2] == ends[3] >= 3


def test_components_of_few_values_and_of_one():
    view = torch.stack([torch.randint(3, (900,)).float(), torch.full((900,), 6.0), torch.randn(900)], 1)
    side = whitened(view)
    found = side(view)
    assert found.shape == (900, 2)  # the constant has no direction
    assert found.isfinite().all()
    torch.testing.assert_close(torch.cov(found.T), torch.eye(2), atol=2e-3, rtol=0)


def test_correlations_that_a_small_draw_makes_up_are_not_believed():
    """Twelve directions of a hundred samples: along them independent views look alike by 0.5 and more."""
    first, second = torch.randn(120, 12), torch.randn(120, 12)
    _, _, correlation = canonical(first, second)
    white = [
        (view - view.mean(0)).double() @ whiten((view - view.mean(0)).double()) for view in (first, second)
    ]
    believed = torch.linalg.svdvals(white[0].T @ white[1] / 120)
    assert float(believed[0]) > 0.4
    assert float(correlation.mean()) < 0.12


def test_no_more_directions_than_the_samples_can_tell():
    assert whitened(torch.randn(200, 50))(torch.randn(4, 50)).shape == (4, 20)


def test_more_samples_than_are_looked_at():
    view = torch.randn(MOST + 5, 1)
    view[MOST:] = 1e6
    assert float(whitened(view)(view[:MOST]).std()) == pytest.approx(1.0, abs=1e-3)
