"""The MLP probe: it learns what a linear one cannot, and the same thing every time."""

import pytest
import torch
from torch import Tensor

from coview.probes import linear_probe, mlp_probe
from coview.probes.linear import Linear
from coview.probes.mlp import TwoLayers, fit_mlp


def exclusive_or(samples: int, *, seed: int) -> tuple[Tensor, Tensor]:
    """Two signs, whether they differ, and a column of noise."""
    generator = torch.Generator().manual_seed(seed)
    signs = torch.randint(0, 2, (samples, 2), generator=generator)
    noise = 0.1 * torch.randn(samples, 3, generator=generator)
    return torch.cat([2.0 * signs - 1, torch.zeros(samples, 1)], 1) + noise, signs.sum(1) % 2


def test_it_solves_exclusive_or_where_a_linear_probe_cannot():
    train, test = exclusive_or(200, seed=0), exclusive_or(151, seed=1)
    assert mlp_probe(*train, *test, classes=2, epochs=40).accuracy > 98
    assert linear_probe(*train, *test, classes=2).accuracy < 80


def test_a_seed_fixes_it_and_nothing_else_does():
    train, test = exclusive_or(60, seed=0), exclusive_or(151, seed=1)
    torch.manual_seed(11)
    before = torch.get_rng_state()
    first = mlp_probe(*train, *test, classes=2, epochs=2, hidden=5, seed=4)
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(12)
    assert mlp_probe(*train, *test, classes=2, epochs=2, hidden=5, seed=4) == first
    others = {
        mlp_probe(*train, *test, classes=2, epochs=2, hidden=5, seed=seed).accuracy for seed in range(5)
    }
    assert len(others) > 1


def small_start() -> TwoLayers:
    generator = torch.Generator().manual_seed(8)
    return TwoLayers(
        Linear(torch.randn(4, 3, generator=generator), torch.zeros(4)),
        Linear(torch.randn(2, 4, generator=generator), torch.zeros(2)),
    )


def test_a_first_step_is_adam_along_the_gradient():
    features, label = exclusive_or(10, seed=0)
    start = small_start()
    weights = [values.clone().requires_grad_() for values in start.parameters()]
    hidden = (features @ weights[0].T + weights[1]).clamp(min=0)
    log_odds = (hidden @ weights[2].T + weights[3]).log_softmax(1)
    (-log_odds[torch.arange(10), label].mean()).backward()
    generator = torch.Generator().manual_seed(0)
    fitted = fit_mlp(start, features, label, generator=generator, epochs=1, learning_rate=0.01)
    for before, weight, after in zip(start.parameters(), weights, fitted.parameters(), strict=True):
        assert weight.grad is not None
        moved = torch.where(weight.grad.abs() > 1e-4, -0.01 * weight.grad.sign(), after - before)
        torch.testing.assert_close(after - before, moved, atol=2e-5, rtol=0)
        assert (weight.grad.abs() > 1e-4).any()


def test_fitting_leaves_the_start_alone():
    start = small_start()
    before = [values.clone() for values in start.parameters()]
    fit_mlp(start, *exclusive_or(10, seed=0), generator=torch.Generator(), epochs=2)
    assert all(torch.equal(a, b) for a, b in zip(before, start.parameters(), strict=True))


def test_a_strong_weight_decay_loses_to_a_weak_one():
    train, test = exclusive_or(150, seed=0), exclusive_or(51, seed=1)
    score = mlp_probe(*train, *test, classes=2, epochs=40, weight_decays=(100.0, 0.0))
    assert score.weight_decay == 0
    assert score.held_out is not None
    assert score.held_out > 90


def test_it_works_under_no_grad():
    with torch.no_grad():
        score = mlp_probe(*exclusive_or(200, seed=0), *exclusive_or(151, seed=1), classes=2, epochs=40)
    assert score.accuracy > 98


def test_what_cannot_be_probed_is_refused():
    train, test = exclusive_or(20, seed=0), exclusive_or(11, seed=1)
    with pytest.raises(ValueError, match=r"classes \[2\] have no training sample"):
        mlp_probe(*train, *test, classes=3)
