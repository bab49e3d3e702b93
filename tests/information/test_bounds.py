"""Bounds from scores: equal to their papers' sums, right where the answer is known, and never above their ceilings."""

import math

import pytest
import slow_bounds
import torch

from coview.information import (
    INFONCE,
    MINE,
    NWJ,
    Choices,
    choices_of,
    donsker_varadhan,
    gaussian_correlation,
    gaussian_pairs,
    infonce,
    infonce_over_all,
    interpolated,
    interpolation,
    nwj,
)

TINY = 1e-9


@pytest.fixture
def scores():
    return torch.randn(7, 7, dtype=torch.float64) * 2


def test_bounds_equal_the_sums_of_their_papers(scores):
    choices = choices_of(scores)
    assert float(donsker_varadhan(choices)) == pytest.approx(slow_bounds.donsker_varadhan(scores))
    assert float(infonce(choices)) == pytest.approx(slow_bounds.infonce(scores))
    for log_z in (-0.7, 0.0, 1.3):
        assert float(nwj(choices, log_z)) == pytest.approx(slow_bounds.nwj(scores, log_z))
        for alpha in (0.1, 0.5, 0.9):
            found = float(interpolated(choices, log_z, alpha=alpha))
            assert found == pytest.approx(slow_bounds.interpolated(scores, log_z, alpha))


def test_the_interpolated_bound_lies_on_the_way_from_nwj_to_infonce(scores):
    choices = choices_of(scores)
    log_z = 0.4
    assert float(interpolated(choices, log_z, alpha=TINY)) == pytest.approx(
        float(nwj(choices, log_z)), abs=1e-6
    )
    uniform = float(interpolated(choices, log_z, alpha=1 - TINY))
    assert uniform == pytest.approx(float(infonce(choices)) + math.log(7 / 6), abs=1e-6)


def test_scores_that_say_nothing_prove_nothing():
    choices = choices_of(torch.full((9, 9), 2.5))
    assert float(donsker_varadhan(choices)) == pytest.approx(0, abs=1e-6)
    assert float(infonce(choices)) == pytest.approx(math.log(8 / 9), abs=1e-6)
    assert float(nwj(choices, 2.5)) == pytest.approx(0, abs=1e-6)
    assert float(interpolated(choices, 2.5)) == pytest.approx(0, abs=1e-6)


def test_a_constant_in_all_scores_changes_only_what_is_normalised_beforehand(scores):
    plain, shifted = choices_of(scores), choices_of(scores + 5)
    assert float(donsker_varadhan(shifted)) == pytest.approx(float(donsker_varadhan(plain)))
    assert float(infonce(shifted)) == pytest.approx(float(infonce(plain)))
    assert float(nwj(shifted, 5.0)) == pytest.approx(float(nwj(plain, 0.0)))
    assert float(nwj(shifted, 0.0)) < float(nwj(plain, 0.0))


@pytest.mark.parametrize("nats", [0.5, 2.0, 4.0])
def test_the_best_critic_finds_the_information_of_gaussians(nats):
    """Without training: what the bounds themselves lose, and how far a draw of 800 samples strays."""
    first, second = gaussian_pairs(nats, 4, 800)
    choices = choices_of(slow_bounds.best_score(first, second, gaussian_correlation(nats, 4)))
    for bound in (MINE, NWJ, interpolation(0.5)):
        assert float(bound.value(choices, torch.tensor(0.0))) == pytest.approx(nats, rel=0.1)
    assert 0.88 * nats < float(infonce(choices)) < 1.08 * nats


def test_infonce_cannot_exceed_the_log_of_what_there_is_to_choose_from():
    perfect = choices_of(100 * torch.eye(30))
    assert float(infonce(perfect)) == pytest.approx(math.log(29), abs=1e-5)
    assert INFONCE.ceiling(perfect) == pytest.approx(math.log(29))
    assert float(donsker_varadhan(perfect)) > 90  # it has no ceiling, and is not to be believed above its own
    assert MINE.ceiling(perfect) == pytest.approx(0.5 * math.log(29 * 30)) == NWJ.ceiling(perfect)
    assert interpolation(0.25).ceiling(perfect) == pytest.approx(math.log(29 * 4))


def test_over_all_keys_the_ceiling_is_log_n():
    keys = torch.nn.functional.normalize(torch.randn(2500, 8), dim=1)
    query = 200 * keys[:1100]
    assert float(infonce_over_all(query, keys)) == pytest.approx(math.log(2499), abs=0.01)
    match = torch.arange(1100).flip(0)
    assert float(infonce_over_all(query.flip(0), keys, match)) == pytest.approx(math.log(2499), abs=0.01)
    scores = (query @ keys.T).double()
    loss = torch.nn.functional.cross_entropy(scores / 50, torch.arange(1100))
    assert float(infonce_over_all(query / 50, keys)) == pytest.approx(math.log(2499) - float(loss), abs=1e-4)


def test_the_slope_that_mine_follows_is_that_of_the_bound_when_the_average_is_the_batchs_own(scores):
    """With a moving average it is the slope of NWJ with the average as normaliser, bounded as memory has it."""
    scores.requires_grad_()
    choices = choices_of(scores)
    (plain,) = torch.autograd.grad(donsker_varadhan(choices), scores, retain_graph=True)
    log_z = (choices.wrong.detach().exp().mean()).log()
    (followed,) = torch.autograd.grad(MINE.raised(choices, log_z), scores, retain_graph=True)
    torch.testing.assert_close(followed, plain)
    (corrected,) = torch.autograd.grad(MINE.raised(choices, log_z + 1), scores)
    own = torch.eye(7, dtype=torch.bool)
    torch.testing.assert_close(corrected[~own], plain[~own] * math.exp(-1))
    torch.testing.assert_close(corrected[own], plain[own])


def test_alpha_lies_between():
    for alpha in (0.0, 1.0, -2.0):
        with pytest.raises(
            ValueError, match=r"alpha must be between 0 .that is NWJ. and 1 .that is InfoNCE., got"
        ):
            interpolation(alpha)


def test_choices_of_few_wrong_pairs():
    """As a concatenated critic gives them: other anchors may have had others."""
    wrong = torch.randn(3, 11)
    choices = Choices(torch.randn(11), wrong.logsumexp(0) - math.log(3), 3)
    assert float(donsker_varadhan(choices)) == pytest.approx(
        float(choices.match.mean() - wrong.flatten().exp().mean().log()), abs=1e-5
    )
    assert MINE.ceiling(choices) == pytest.approx(0.5 * math.log(33))
