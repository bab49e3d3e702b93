"""The quick look: what it says of held-out samples, and which samples it takes."""

import pytest
import torch
from torch import Tensor

from coview.probes import Features
from coview.probes.quick import quick_look, some
from coview.probes.scoring import held_out_part


def features(label: Tensor, *, noise: float = 0.3) -> Features:
    generator = torch.Generator().manual_seed(0)
    centre = torch.randn(9, 5, generator=generator)
    values = {
        name: centre[label.clamp(min=0)] @ torch.randn(5, size, generator=generator)
        + noise * torch.randn(len(label), size, generator=generator)
        for name, size in {"L": 6, "ab": 4}.items()
    }
    present = {name: torch.ones(len(label), dtype=torch.bool) for name in values}
    return Features(values, present, torch.arange(len(label)), label)


def test_the_neighbours_are_those_of_a_loop():
    label = torch.arange(60) % 3
    given = features(label, noise=4.0)
    values = torch.nn.functional.normalize(torch.cat([given.values["L"], given.values["ab"]], 1))
    held_out = held_out_part(label, seed=2)
    right = 0
    for row in held_out.nonzero().flatten():
        votes = torch.zeros(3)
        for other in (~held_out).nonzero().flatten():
            votes[label[other]] += (values[row] @ values[other] / 0.07).exp()
        right += int(votes.argmax() == label[row])
    found = quick_look(given, seed=2)
    assert found["knn"] == pytest.approx(100 * right / 12)
    assert 0 < found["knn"] < 100


def test_what_is_plain_is_seen():
    assert quick_look(features(torch.arange(90) % 4), seed=0) == {"knn": 100.0, "linear": 100.0}


def test_classes_of_one_sample_and_gaps_in_their_numbers_do_not_matter():
    label = torch.cat([torch.arange(40) % 2 * 5, torch.tensor([3, 8, -1, -1])])
    assert quick_look(features(label), seed=0) == {"knn": 100.0, "linear": 100.0}


def test_one_class_is_nothing_to_tell_apart():
    label = torch.tensor([2] * 6 + [1, -1])
    with pytest.raises(ValueError, match=r"two classes or more with two samples each, got \[1, 6\] samples"):
        quick_look(features(label), seed=0)


def test_samples_are_drawn_once_among_those_with_a_label():
    label = torch.where(torch.arange(50) % 2 == 0, 1, -1)
    drawn = some(label, 7, seed=3)
    assert len(drawn.unique()) == 7
    assert torch.equal(drawn, drawn.sort().values)
    assert (label[drawn] == 1).all()
    assert torch.equal(drawn, some(label, 7, seed=3))
    assert not torch.equal(drawn, some(label, 7, seed=4))
    assert some(label, 1000, seed=0).tolist() == list(range(0, 50, 2))
