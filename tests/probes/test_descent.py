"""Descents by minibatches: the schedule, the steps, and where they lead."""

import math
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from coview.probes import Descent, descend, fit_linear
from coview.probes.descent import descent_path, linear_start, minibatches, mlp_start, started
from coview.probes.protocol import PAPER, PAPER_ADAM, PAPER_RESNET, PAPER_RESNET_X2, PAPER_SGD, PAPER_STL10


def cloud(samples: int = 43, *, features: int = 5, classes: int = 3) -> tuple[Tensor, Tensor]:
    """Classes that overlap, so that there is an optimum at a finite place."""
    generator = torch.Generator().manual_seed(1)
    label = torch.arange(samples) % classes
    return torch.eye(classes, features)[label] + torch.randn(samples, features, generator=generator), label


@pytest.mark.parametrize(
    ("descent", "rates"),
    [
        (PAPER.linear, {0: 0.1, 59: 0.1, 60: 0.02, 74: 0.02, 75: 0.004, 90: 0.0008, 99: 0.0008}),
        (PAPER_RESNET.linear, {0: 30, 59: 30, 60: 6, 75: 1.2, 99: 0.24}),
        (PAPER_RESNET_X2.linear, {0: 50, 60: 10, 99: 0.4}),
        (PAPER_STL10.linear, {0: 1e-3, 59: 1e-3, 60: 2e-4, 79: 2e-4, 80: 4e-5, 99: 4e-5}),
        (PAPER.mlp, {0: 1e-3, 60: 2e-4, 80: 4e-5}),
    ],
)
def test_the_rates_of_the_paper_by_epoch(descent: Descent, rates: dict[int, float]):
    (first,) = descent.learning_rates
    assert {epoch: first * descent.factor(epoch) for epoch in rates} == pytest.approx(rates)
    assert (descent.epochs, descent.weight_decay, descent.batch_norm) == (100, 0.0, False)


def test_the_moments_of_the_paper():
    group = [{"params": [nn.Parameter(torch.ones(3))], "lr": 0.1}]
    sgd, adam = PAPER_SGD.start(group), PAPER_ADAM.start(group)
    assert (type(sgd), sgd.defaults["momentum"], sgd.defaults["weight_decay"]) == (torch.optim.SGD, 0.9, 0.0)
    assert (type(adam), adam.defaults["betas"]) == (torch.optim.Adam, (0.5, 0.999))


def by_hand(features: Tensor, label: Tensor, order: list[list[int]], rates: list[float]) -> Tensor:
    """SGD with momentum from zero weights and no bias, one batch after the other."""
    weight = torch.zeros(3, features.shape[1])
    speed = torch.zeros_like(weight)
    for rows, rate in zip(order, rates, strict=True):
        gradient = torch.zeros_like(weight)
        for row in rows:
            chance = (weight @ features[row]).softmax(0)
            chance[label[row]] -= 1
            gradient += chance[:, None] * features[row] / len(rows)
        speed = 0.9 * speed + gradient
        weight = weight - rate * speed
    return weight


def test_steps_are_those_of_sgd_at_the_rate_of_their_epoch():
    features, label = cloud(7)
    order = [[3, 1, 4], [0, 6], [2, 5, 3], [6, 1]]
    descent = Descent(epochs=2, learning_rates=(0.5,), milestones=(1,), decay=0.1)
    classifier = nn.Linear(5, 3, bias=False)
    nn.init.zeros_(classifier.weight)
    epochs = {0: order[:2], 1: order[2:]}
    descend(
        [classifier],
        [0.5],
        lambda number: [(features[rows], label[rows]) for rows in epochs[number]],
        descent,
    )
    wanted = by_hand(features, label, order, [0.5, 0.5, 0.05, 0.05])
    torch.testing.assert_close(classifier.weight.detach(), wanted)


def test_a_first_step_of_adam_is_along_the_sign_of_the_gradient():
    features, label = cloud(10)
    start = mlp_start(5, torch.Generator().manual_seed(3), classes=3, hidden=4)
    weights = [one.detach().clone().requires_grad_() for one in start.parameters()]
    hidden = (features @ weights[0].T + weights[1]).clamp(min=0)
    log_odds = (hidden @ weights[2].T + weights[3]).log_softmax(1)
    (-log_odds[torch.arange(10), label].mean()).backward()
    descent = Descent(epochs=1, optimiser="adam", learning_rates=(0.01,))
    descend([start], [0.01], lambda number: [(features, label)], descent)
    for before, after in zip(weights, start.parameters(), strict=True):
        assert before.grad is not None
        moved = torch.where(before.grad.abs() > 1e-4, before - 0.01 * before.grad.sign(), after)
        torch.testing.assert_close(after.detach(), moved.detach(), atol=2e-5, rtol=0)
        assert (before.grad.abs() > 1e-4).any()


def test_the_schedule_leads_to_the_optimum():
    """The same place as L-BFGS finds, with a little weight decay so that there is one."""
    features, label = cloud()
    optimum = fit_linear(features.double(), label, classes=3, weight_decay=0.05, tolerance=1e-8)
    descent = replace(PAPER_SGD, learning_rates=(0.5,), batch=43)
    sgd = nn.Linear(5, 3)
    nn.init.zeros_(sgd.weight)
    nn.init.zeros_(sgd.bias)
    descend([sgd], [0.5], lambda number: [(features, label)] * 4, replace(descent, weight_decay=0.05))
    # SGD's weight decay also pulls the bias, which moves it by a little
    torch.testing.assert_close(sgd.weight.double(), optimum.weight, atol=0.02, rtol=0)


def separable(samples: int) -> tuple[Tensor, Tensor]:
    features, label = cloud(samples)
    return 0.2 * (features - torch.eye(3, 5)[label]) + torch.eye(3, 5)[label], label


def test_what_is_separable_is_separated():
    features, label = separable(60)
    (classifier,) = descent_path(partial(linear_start, classes=3), PAPER_SGD, seed=0)(features, label, [0.1])
    scores = classifier(features)
    assert (scores.argmax(1) == label).all()
    assert torch.nn.functional.cross_entropy(scores, label) < 0.1 < math.log(3)


def test_several_rates_at_once_are_what_each_is_alone():
    features, label = cloud()
    descent = replace(PAPER_SGD, epochs=3, batch=10, batch_norm=True)
    path = descent_path(partial(linear_start, classes=3), descent, seed=5)
    together = path(features, label, [0.3, 0.01])
    for classifier, rate in zip(together, [0.3, 0.01], strict=True):
        (alone,) = path(features, label, [rate])
        torch.testing.assert_close(classifier(features), alone(features))
    assert (together[0](features) - together[1](features)).abs().max() > 0.1


def test_the_batch_norm_takes_mean_and_scale_off():
    features, label = cloud()
    descent = replace(PAPER_SGD, epochs=20, batch=43, batch_norm=True)
    path = descent_path(partial(linear_start, classes=3), descent, seed=5)
    (plain,) = path(features, label, [0.1])
    (moved,) = path(1e4 * (features + 7), label, [0.1])
    torch.testing.assert_close(plain(features), moved(1e4 * (features + 7)), atol=1e-2, rtol=0)
    assert sum(one.numel() for one in plain.parameters()) == 3 * 5 + 3  # the norm has nothing to learn


def test_minibatches_show_every_sample_once_and_leave_none_alone():
    features, label = torch.arange(9.0)[:, None], torch.arange(9)
    generator = torch.Generator().manual_seed(0)
    first, second = (list(minibatches(features, label, 4, generator)) for _ in "ab")
    assert [len(rows) for rows, _ in first] == [4, 4]
    seen = torch.cat([rows for _, rows in first])
    assert len(seen.unique()) == 8
    assert not torch.equal(seen, torch.cat([rows for _, rows in second]))
    sizes = [len(rows) for rows, _ in minibatches(features, label, 7, generator)]
    assert sizes == [7, 2]


def test_half_precision_is_made_whole_before_the_fit():
    features, label = cloud()
    path = descent_path(partial(linear_start, classes=3), replace(PAPER_SGD, epochs=2), seed=0)
    (classifier,) = path(features.half(), label, [0.1])
    (wanted,) = path(features.half().float(), label, [0.1])
    assert torch.equal(classifier.weight, wanted.weight)
    assert classifier.weight.dtype == torch.float32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"optimiser": "adan"}, r"sgd or adam, got 'adan' \(did you mean 'adam'\?\)"),
        ({"epochs": 0}, "got 0, 256 and"),
        ({"batch": 1}, "batches of two"),
        ({"learning_rates": ()}, r"one learning rate, got 100, 256 and \[\]"),
    ],
)
def test_senseless_descents_are_refused(change: dict, message: str):
    with pytest.raises(ValueError, match=message):
        Descent(**change)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype")
@pytest.mark.parametrize("descent", [PAPER_SGD, PAPER_ADAM, replace(PAPER_SGD, batch_norm=True)])
def test_no_step_waits_for_the_device(descent: Descent):
    features, label = (one.cuda() for one in cloud())
    generator = torch.Generator().manual_seed(0)
    make = partial(mlp_start, classes=3, hidden=4)
    classifiers = [started(make, 5, descent, generator).cuda() for _ in "ab"]
    torch.cuda.set_sync_debug_mode("error")
    try:
        descend(classifiers, [0.1, 0.01], lambda number: [(features, label)] * 3, replace(descent, epochs=2))
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert classifiers[0](features).isfinite().all()
