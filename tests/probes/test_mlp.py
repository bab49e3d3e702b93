"""The MLP probe: it learns what a linear one cannot, and the same thing every time."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from coview.probes import linear_probe, mlp_probe
from coview.probes.mlp import ADAM

SHORT = replace(ADAM, epochs=40)


def exclusive_or(samples: int, *, seed: int) -> tuple[Tensor, Tensor]:
    """Two signs, whether they differ, and a column of noise."""
    generator = torch.Generator().manual_seed(seed)
    signs = torch.randint(0, 2, (samples, 2), generator=generator)
    noise = 0.1 * torch.randn(samples, 3, generator=generator)
    return torch.cat([2.0 * signs - 1, torch.zeros(samples, 1)], 1) + noise, signs.sum(1) % 2


def test_it_solves_exclusive_or_where_a_linear_probe_cannot():
    train, test = exclusive_or(200, seed=0), exclusive_or(151, seed=1)
    assert mlp_probe(*train, *test, classes=2, descent=SHORT).accuracy > 98
    assert linear_probe(*train, *test, classes=2).accuracy < 80


def test_a_seed_fixes_it_and_nothing_else_does():
    train, test = exclusive_or(60, seed=0), exclusive_or(151, seed=1)
    torch.manual_seed(11)
    before = torch.get_rng_state()
    two = replace(ADAM, epochs=2)
    first = mlp_probe(*train, *test, classes=2, descent=two, hidden=5, seed=4)
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(12)
    assert mlp_probe(*train, *test, classes=2, descent=two, hidden=5, seed=4) == first
    others = {
        mlp_probe(*train, *test, classes=2, descent=two, hidden=5, seed=seed).accuracy for seed in range(5)
    }
    assert len(others) > 1


def test_a_strong_weight_decay_loses_to_a_weak_one():
    train, test = exclusive_or(150, seed=0), exclusive_or(51, seed=1)
    score = mlp_probe(*train, *test, classes=2, descent=SHORT, weight_decays=(100.0, 0.0))
    assert score.weight_decay == 0
    assert score.held_out is not None
    assert score.held_out > 90


def test_it_works_under_no_grad():
    with torch.no_grad():
        score = mlp_probe(*exclusive_or(200, seed=0), *exclusive_or(151, seed=1), classes=2, descent=SHORT)
    assert score.accuracy > 98


def test_what_cannot_be_probed_is_refused():
    train, test = exclusive_or(20, seed=0), exclusive_or(11, seed=1)
    with pytest.raises(ValueError, match=r"classes \[2\] have no training sample"):
        mlp_probe(*train, *test, classes=3)
