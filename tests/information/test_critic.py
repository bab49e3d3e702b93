"""Critics: every pair once, the same for a critic however it is asked, and silent before it has learned."""

import math
from functools import partial

import pytest
import slow_bounds
import torch

from coview.information import choices_of, concatenated, gaussian_correlation, gaussian_pairs, separable
from coview.information import critic as critics
from coview.information.sides import GaussianScore
from coview.information.towers import Scaled, picture_tower

MAKERS = (partial(separable, dim=5, width=16), partial(concatenated, width=16, shifts=6))


def stir(critic):
    """Weights as if it had learned."""
    with torch.no_grad():
        for parameter in critic.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return critic.eval()


def views(kind, samples=23):
    table, other = torch.randn(samples, 4), torch.randn(samples, 3)
    picture, clip = torch.randn(samples, 2, 9, 14), torch.randn(samples, 3, 2, 8, 8)
    return {"tables": (table, other), "mixed": (table, picture), "pictures": (clip, picture)}[kind]


def all_scores(critic, first, second):
    """Pair by pair, each as the right pair of two samples."""
    rows = []
    for one in first:
        pairs = [critic.encode(torch.stack([one, one]), torch.stack([other, other])) for other in second]
        rows.append(torch.stack([critic.choices(*pair).match[0] for pair in pairs]))
    return torch.stack(rows)


@pytest.mark.parametrize("kind", ["tables", "mixed", "pictures"])
@pytest.mark.parametrize("make", MAKERS, ids=["separable", "concatenated"])
def test_choices_are_those_of_the_scores_of_all_pairs(make, kind):
    first, second = views(kind, samples=11)
    critic = stir(make(first, second))
    with torch.no_grad():
        wanted = choices_of(all_scores(critic, first, second))
        found = critic.choices(*critic.encode(first, second))
    assert found.count == 10
    torch.testing.assert_close(found.match, wanted.match, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found.wrong, wanted.wrong, atol=1e-4, rtol=1e-4)


def test_it_does_not_matter_how_many_scores_are_held_at_a_time(monkeypatch):
    for make in MAKERS:
        critic = stir(make(*views("tables", samples=19)))
        sides = critic.encode(*views("tables", samples=19))
        whole = critic.choices(*sides, torch.Generator().manual_seed(4))
        monkeypatch.setattr(critics, "SCORES", 70)
        parts = critic.choices(*sides, torch.Generator().manual_seed(4))
        monkeypatch.undo()
        torch.testing.assert_close(parts.wrong, whole.wrong)
        torch.testing.assert_close(parts.match, whole.match)


def test_concatenated_critics_see_few_wrong_partners_while_they_learn():
    critic = concatenated(*views("tables"), width=16, shifts=6)
    sides = critic.encode(*views("tables"))
    assert critic.train().choices(*sides).count == 6
    assert critic.eval().choices(*sides).count == 22


@pytest.mark.parametrize("make", MAKERS, ids=["separable", "concatenated"])
def test_a_fresh_critic_of_pictures_says_nothing(make):
    first, second = views("pictures")
    choices = make(first, second).choices(*make(first, second).encode(first, second))
    assert choices.match.abs().max() == 0
    assert choices.wrong.abs().max() < 1e-6


@pytest.mark.parametrize("make", [separable, concatenated])
def test_a_fresh_critic_of_gaussians_is_the_best_one_but_for_a_constant(make):
    correlation = gaussian_correlation(1.5, 2)
    first, second = gaussian_pairs(1.5, 2, 20_000)
    critic = make(first, second).eval()
    with torch.no_grad():
        found = critic.choices(*critic.encode(first[:40], second[:40])).match
    wanted = slow_bounds.best_score(first[:40], second[:40], correlation).diagonal().float()
    torch.testing.assert_close(found - found.mean(), wanted - wanted.mean(), atol=0.1, rtol=0)
    plain = make(first, second, gaussian=False)
    assert plain.choices(*plain.encode(first[:40], second[:40])).match.abs().max() == 0


def test_the_gaussian_score_is_that_of_its_densities():
    correlation = torch.tensor([0.9, 0.3, 0.0])
    score = GaussianScore(correlation)
    first, second = torch.randn(6, 5), torch.randn(6, 3)
    found = score.query(first) @ score.key(second).T
    wanted = sum(
        slow_bounds.best_score(first[:, k : k + 1], second[:, k : k + 1], float(correlation[k]))
        for k in range(3)
    )
    constant = sum(-0.5 * math.log(1 - float(one) ** 2) for one in correlation)
    torch.testing.assert_close(found.double() + constant, wanted, atol=1e-4, rtol=1e-4)


def test_pictures_are_whitened_whatever_their_channels_are_mixed_to():
    picture = torch.randn(50, 3, 6, 5) * torch.tensor([1.0, 9.0, 0.2])[:, None, None] + 4
    mixed = torch.einsum("kc,bchw->bkhw", torch.randn(3, 3), picture)
    for view in (picture, mixed, torch.cat([picture, picture[:, :1]], 1)):
        found = Scaled(view)(view).movedim(1, -1).flatten(0, -2)
        torch.testing.assert_close(torch.cov(found.T), torch.eye(3), atol=1e-2, rtol=0)


@pytest.mark.parametrize(("shape", "halvings"), [((1, 3, 3), 1), ((2, 16, 33), 2), ((3, 64, 64), 4)])
def test_pictures_are_halved_until_a_side_is_four(shape, halvings):
    tower = picture_tower(shape, 7, width=12)
    assert sum(isinstance(layer, torch.nn.Conv2d) for layer in tower) == halvings
    assert tower(torch.randn(5, *shape)).shape == (5, 7)
