"""How many samples a classifier gets right, at its first guess and within five."""

import pytest
import torch

from coview.probes import PROTOCOLS, knn_probe, linear_probe, probe_by
from coview.probes.scoring import hits, percent_right


def test_within_five_equals_the_loop():
    generator = torch.Generator().manual_seed(0)
    scores, label = torch.randn(41, 7, generator=generator), torch.arange(41) % 7
    ranked = [sorted(range(7), key=row.__getitem__, reverse=True) for row in scores.tolist()]
    for among in (1, 2, 5):
        right = sum(one in order[:among] for one, order in zip(label.tolist(), ranked, strict=True))
        assert percent_right(scores, label, among=among) == pytest.approx(100 * right / 41)
    assert hits(scores, label) == (percent_right(scores, label), percent_right(scores, label, among=5))


def test_five_classes_are_always_within_five():
    scores, label = torch.randn(9, 5), torch.arange(9) % 5
    assert hits(scores, label) == (percent_right(scores, label), None)


@pytest.mark.parametrize("kind", ["linear", "mlp", "knn"])
def test_every_kind_of_probe_says_both(kind):
    generator = torch.Generator().manual_seed(1)
    parts = []
    for samples in (84, 35):
        label = torch.arange(samples) % 7
        parts += [torch.randn(samples, 4, generator=generator) + 0.3 * label[:, None], label]
    score = probe_by(PROTOCOLS["paper"], kind, *parts, classes=7)
    assert score.top5 is not None
    assert score.accuracy < score.top5 < 100
    few = [one[part < 5] for one, part in zip(parts, (parts[1], parts[1], parts[3], parts[3]), strict=True)]
    probe = knn_probe if kind == "knn" else linear_probe
    assert probe(*few, classes=5).top5 is None
