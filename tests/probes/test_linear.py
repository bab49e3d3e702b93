"""The linear probe: the optimum is reached, the choice is fair, and broken input is refused."""

import pytest
import torch
from torch import Tensor

from coview.probes import Score, fit_linear, linear_probe
from coview.probes.linear import affordable
from coview.probes.scoring import choose, held_out_part


def blobs(samples: int, *, features: int = 7, classes: int = 3, spread: float = 0.1, seed: int = 0):
    """Classes around corners of a cube, far apart."""
    generator = torch.Generator().manual_seed(seed)
    label = torch.arange(samples) % classes
    centre = torch.eye(classes, features)
    return centre[label] + spread * torch.randn(samples, features, generator=generator), label


def objective(weight: Tensor, bias: Tensor, features: Tensor, label: Tensor, weight_decay: float) -> Tensor:
    """The slow, obvious version."""
    loss = torch.zeros((), dtype=features.dtype)
    for row, wanted in zip(features, label.tolist(), strict=True):
        scores = weight @ row + bias
        loss = loss + (scores.exp().sum().log() - scores[wanted]) / len(features)
    return loss + weight_decay / 2 * (weight**2).sum()


@pytest.mark.parametrize("weight_decay", [1.0, 1e-3])
def test_the_fit_is_the_optimum(weight_decay: float):
    features, label = blobs(41, spread=0.8)
    features = features.double()
    fitted = fit_linear(features, label, classes=3, weight_decay=weight_decay, tolerance=1e-9)
    weight, bias = fitted.weight.requires_grad_(), fitted.bias.requires_grad_()
    objective(weight, bias, features, label, weight_decay).backward()
    assert weight.grad is not None
    assert bias.grad is not None
    assert weight.grad.abs().max() < 1e-7
    assert bias.grad.abs().max() < 1e-7
    assert weight.abs().max() > 0.01


def test_the_start_does_not_matter():
    features, label = blobs(41, spread=0.8)
    features = features.double()
    cold = fit_linear(features, label, classes=3, weight_decay=0.01, tolerance=1e-9)
    strong = fit_linear(features, label, classes=3, weight_decay=5.0)
    warm = fit_linear(features, label, classes=3, weight_decay=0.01, tolerance=1e-9, start=strong)
    torch.testing.assert_close(warm.weight, cold.weight, atol=1e-5, rtol=0)
    assert (strong.weight - cold.weight).abs().max() > 0.1


def test_separable_blobs_are_all_right():
    score = linear_probe(*blobs(50), *blobs(31, seed=1), classes=3)
    assert score == Score(100.0, train=50, test=31, weight_decay=score.weight_decay, held_out=100.0)


def test_random_labels_are_near_chance():
    generator = torch.Generator().manual_seed(2)
    train, test = torch.randn(300, 9, generator=generator), torch.randn(1200, 9, generator=generator)
    draw = [torch.randint(0, 4, (size,), generator=generator) for size in (300, 1200)]
    assert abs(linear_probe(train, draw[0], test, draw[1], classes=4).accuracy - 25) < 6


def by_hand(train: Tensor, label: Tensor, test: Tensor, test_label: Tensor, weight_decay: float) -> float:
    """Standardise, fit, count: without the probe's own path."""
    mean, deviation = train.mean(0), train.std(0, correction=0)
    fitted = fit_linear((train - mean) / deviation, label, classes=3, weight_decay=weight_decay)
    guess = ((test - mean) / deviation @ fitted.weight.T + fitted.bias).argmax(1)
    return 100 * (guess == test_label).float().mean().item()


def test_test_labels_never_reach_the_fit():
    train, label = blobs(60, spread=0.9)
    test, test_label = blobs(45, spread=0.9, seed=1)
    train, test = train.double(), test.double()
    swapped = test_label[torch.randperm(45, generator=torch.Generator().manual_seed(3))]
    honest = linear_probe(train, label, test, test_label, classes=3)
    other = linear_probe(train, label, test, swapped, classes=3)
    assert (other.weight_decay, other.held_out) == (honest.weight_decay, honest.held_out)
    assert honest.weight_decay is not None
    for score, labels in ((honest, test_label), (other, swapped)):
        assert score.accuracy == pytest.approx(by_hand(train, label, test, labels, honest.weight_decay))
    assert other.accuracy < honest.accuracy


def test_weight_decay_is_the_best_on_the_held_out_part():
    train, label = blobs(60, spread=0.9, features=40)
    held_out = held_out_part(label, seed=4)
    mean, deviation = train.mean(0), train.std(0, correction=0)
    train_unit = (train - mean) / deviation
    accuracies = {}
    for weight_decay in (30.0, 0.3, 1e-5):
        fitted = fit_linear(train_unit[~held_out], label[~held_out], classes=3, weight_decay=weight_decay)
        right = fitted(train_unit[held_out]).argmax(1) == label[held_out]
        accuracies[weight_decay] = 100 * right.double().mean().item()
    assert len(set(accuracies.values())) > 1
    score = linear_probe(train, label, train, label, classes=3, weight_decays=(1e-5, 0.3, 30.0), seed=4)
    assert score.weight_decay == max(accuracies, key=accuracies.__getitem__)
    assert score.held_out == pytest.approx(max(accuracies.values()))


def test_of_equals_the_strongest_is_chosen():
    score = linear_probe(*blobs(50), *blobs(31, seed=1), classes=3, weight_decays=(1e-4, 0.1, 1e-3))
    assert (score.weight_decay, score.held_out) == (0.1, 100.0)


def test_one_weight_decay_leaves_nothing_to_choose():
    score = linear_probe(*blobs(50), *blobs(31, seed=1), classes=3, weight_decays=(0.5,))
    assert (score.weight_decay, score.held_out) == (0.5, None)


def test_a_fifth_of_every_class_is_held_out():
    label = torch.tensor([0] * 20 + [1] * 10 + [2] * 2 + [3])
    held_out = held_out_part(label, seed=0)
    assert label[held_out].bincount(minlength=4).tolist() == [4, 2, 1, 0]
    assert torch.equal(held_out, held_out_part(label, seed=0))
    assert not torch.equal(held_out, held_out_part(label, seed=1))


def test_the_same_seed_gives_the_same_score():
    runs = {
        linear_probe(*blobs(60, spread=0.9), *blobs(45, spread=0.9, seed=1), classes=3, seed=6) for _ in "ab"
    }
    assert len(runs) == 1


def test_scaling_and_shifting_features_changes_nothing():
    (train, label), (test, test_label) = blobs(60, spread=0.7), blobs(45, spread=0.7, seed=1)
    train, test = train.double(), test.double()
    scale, shift = torch.logspace(-4, 4, 7), torch.arange(7.0) - 3
    plain = linear_probe(train, label, test, test_label, classes=3)
    scaled = linear_probe((train + shift) * scale, label, (test + shift) * scale, test_label, classes=3)
    assert scaled == plain
    assert 50 < plain.accuracy < 100
    raw = linear_probe(
        (train + shift) * scale, label, (test + shift) * scale, test_label, classes=3, standardise=False
    )
    assert raw.accuracy < plain.accuracy


def test_a_feature_that_is_dead_in_training_is_dropped():
    (train, label), (test, test_label) = blobs(50), blobs(31, seed=1)
    plain = linear_probe(train, label, test, test_label, classes=3)
    dead = torch.full((50, 1), 0.1)
    wild = torch.linspace(-1e4, 1e4, 31)[:, None]
    score = linear_probe(
        torch.cat([train, dead], 1), label, torch.cat([test, wild], 1), test_label, classes=3
    )
    assert score == plain


def test_features_in_half_precision_will_do():
    (train, label), (test, test_label) = blobs(50), blobs(31, seed=1)
    assert linear_probe(train.bfloat16(), label, test.bfloat16(), test_label, classes=3).accuracy == 100


def test_it_works_under_no_grad():
    with torch.no_grad():
        assert linear_probe(*blobs(50), *blobs(31, seed=1), classes=3).accuracy == 100


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"classes": 1}, "at least 2, got classes=1"),
        ({"classes": 4}, r"classes \[3\] have no training sample"),
        ({"classes": 2}, "training labels go from 0 to 2, wanted 0 to 1"),
        ({"weight_decays": ()}, r"one or more weight decays of at least 0, got \[\]"),
        ({"weight_decays": (-1.0,)}, r"got \[-1.0\]"),
        ({"test_label": torch.full((31,), 9)}, "test labels go from 9 to 9, wanted 0 to 2"),
        ({"train": torch.full((50, 7), torch.nan)}, "training features hold NaN"),
        ({"test": torch.full((31, 7), torch.inf)}, "test features hold NaN"),
        ({"test": torch.zeros(0, 7), "test_label": torch.zeros(0).long()}, "test set has no samples"),
    ],
)
def test_what_cannot_be_probed_is_refused(change: dict, message: str):
    (train, label), (test, test_label) = blobs(50), blobs(31, seed=1)
    given = {"train": train, "train_label": label, "test": test, "test_label": test_label, "classes": 3}
    with pytest.raises(ValueError, match=message):
        linear_probe(**(given | change))


def test_one_sample_a_class_cannot_choose():
    train, label = blobs(3)
    with pytest.raises(ValueError, match="give a single weight decay"):
        linear_probe(train, label, *blobs(31, seed=1), classes=3)
    assert linear_probe(train, label, *blobs(31, seed=1), classes=3, weight_decays=(0.1,)).accuracy > 60


@pytest.mark.parametrize(
    ("shape", "classes", "tries", "steps"),
    [
        ((50_000, 9_600), 100, 6, 100),
        ((50_000, 9_600), 100, 1, 500),
        ((1_281_167, 9_216), 1000, 1, 84),  # 84 * 5 * 1,281,167 * 9,216 * 1,000 is 5e15
        ((1_281_167, 9_216), 1000, 6, 14),
        ((10**8, 9_216), 1000, 6, 10),
    ],
)
def test_what_a_probe_costs_has_a_bound(shape: tuple[int, int], classes: int, tries: int, steps: int):
    assert affordable(torch.empty(shape, device="meta"), classes, tries=tries) == steps


def test_a_probe_looks_at_its_features_a_few_hundred_times(monkeypatch: pytest.MonkeyPatch):
    looks = []
    plain = torch.nn.functional.linear
    monkeypatch.setattr("torch.nn.functional.linear", lambda *given: looks.append(1) or plain(*given))
    train, label = blobs(400, spread=0.9, features=60)
    linear_probe(train, label, *blobs(45, spread=0.9, features=60, seed=1), classes=3)
    assert len(looks) < 300


def test_decays_that_only_get_worse_are_not_tried():
    tried = []

    def path(features, label, weight_decays):
        for weight_decay in weight_decays:
            tried.append(weight_decay)
            sign = 1 if weight_decay > 0.5 else -1
            yield lambda unseen, sign=sign: sign * torch.cat([-unseen, unseen], 1)

    label = torch.arange(40) % 2
    features = label[:, None] * 2.0 - 1
    best = choose(path, features, label, held_out_part(label, seed=0), (1e-4, 1e-3, 1.0, 0.1, 0.01))
    assert best == (1.0, 100.0)
    assert tried == [1.0, 0.1, 0.01]
