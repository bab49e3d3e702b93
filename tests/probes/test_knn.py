"""The nearest-neighbour probe against a loop over samples."""

import math
from importlib import import_module

import pytest
import torch
from torch import Tensor

from coview.probes import knn_probe
from coview.probes.knn import count_votes
from coview.probes.retrieval import closest


def drawn() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    label, test_label = torch.arange(37) % 4, torch.arange(23) % 4
    train = torch.randn(37, 5, generator=generator) + torch.eye(4, 5)[label]
    test = torch.randn(23, 5, generator=generator) + torch.eye(4, 5)[test_label]
    return train, label, test, test_label


def by_hand(
    train: Tensor, label: Tensor, query: Tensor, *, neighbours: int, temperature: float
) -> list[float]:
    """The votes of one sample."""
    cosines = [float(row @ query / (row.norm() * query.norm())) for row in train]
    order = sorted(range(len(train)), key=lambda row: -cosines[row])[:neighbours]
    votes = [0.0] * 4
    for row in order:
        votes[int(label[row])] += math.exp(cosines[row] / temperature)
    return votes


@pytest.mark.parametrize(("neighbours", "temperature"), [(1, 0.07), (6, 0.07), (6, 2.0), (37, 0.5)])
def test_votes_equal_the_loop(neighbours: int, temperature: float):
    train, label, test, _ = drawn()
    cosine, index = closest(test, train, neighbours)
    votes = count_votes(cosine, label[index], classes=4, temperature=temperature)
    wanted = [by_hand(train, label, query, neighbours=neighbours, temperature=temperature) for query in test]
    wanted = torch.tensor(wanted)
    torch.testing.assert_close(votes / votes.sum(1, keepdim=True), wanted / wanted.sum(1, keepdim=True))


@pytest.mark.parametrize("neighbours", [1, 6, 37])
def test_the_accuracy_counts_the_votes_that_are_right(neighbours: int):
    train, label, test, test_label = drawn()
    right = 0
    for query, wanted in zip(test, test_label.tolist(), strict=True):
        votes = by_hand(train, label, query, neighbours=neighbours, temperature=0.2)
        right += votes.index(max(votes)) == wanted
    score = knn_probe(*drawn(), classes=4, neighbours=neighbours, temperature=0.2)
    assert score.accuracy == pytest.approx(100 * right / 23)
    assert (score.train, score.test, score.weight_decay) == (37, 23, None)
    assert 0 < right < 23


def test_neighbours_are_capped_by_the_training_set():
    assert knn_probe(*drawn(), classes=4) == knn_probe(*drawn(), classes=4, neighbours=37)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch):
    whole = knn_probe(*drawn(), classes=4, neighbours=6)
    monkeypatch.setattr(import_module("coview.probes.retrieval"), "SCORES", 5 * 37)
    assert knn_probe(*drawn(), classes=4, neighbours=6) == whole


def test_a_low_temperature_is_the_nearest_neighbour():
    nearest = knn_probe(*drawn(), classes=4, neighbours=1)
    assert knn_probe(*drawn(), classes=4, neighbours=30, temperature=1e-4) == nearest


@pytest.mark.parametrize("change", [{"neighbours": 0}, {"temperature": 0.0}])
def test_senseless_settings_are_refused(change: dict):
    with pytest.raises(ValueError, match="wanted neighbours >= 1 and temperature > 0"):
        knn_probe(*drawn(), classes=4, **change)


def test_what_cannot_be_probed_is_refused():
    with pytest.raises(ValueError, match="wanted 0 to 2"):
        knn_probe(*drawn(), classes=3)
