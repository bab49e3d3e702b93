"""Slow copies: they follow by the formula, and no statistics of a batch reach their keys."""

import copy

import pytest
import torch
from torch import nn

from coview.encoders import MLP, Encoders, SlowEncoders, SmallConv
from coview.encoders.slow import settle

BATCH = 9


def encoders() -> Encoders:
    torch.manual_seed(4)
    return Encoders({"touch": MLP(5, hidden=(8,), dim=3), "sight": SmallConv(2, width=3, hidden=6, dim=3)})


def views(samples: int = BATCH) -> dict[str, torch.Tensor]:
    return {"touch": 3 + 2 * torch.randn(samples, 5), "sight": torch.randn(samples, 2, 16, 20)}


def learn(them: Encoders) -> None:
    """Change weights, running statistics and counts, as a step does."""
    them(views())
    with torch.no_grad():
        for parameter in them.parameters():
            parameter.add_(torch.randn_like(parameter))


@pytest.mark.parametrize("groups", [None, 2])
def test_they_follow_by_the_formula(groups):
    them = encoders()
    slow = SlowEncoders(them, 0.9, groups=groups)
    wanted = {name: value.double().clone() for name, value in them.state_dict().items()}
    for _ in range(3):
        learn(them)
        slow.follow(them)
        for name, value in them.state_dict().items():
            wanted[name] = 0.9 * wanted[name] + 0.1 * value.double()
            if name.endswith("num_batches_tracked"):
                wanted[name] = value.double()
    found = slow.copies.state_dict()
    assert found.keys() == wanted.keys()
    for name, value in found.items():
        torch.testing.assert_close(value.double(), wanted[name], rtol=1e-5, atol=1e-6)
    assert not torch.equal(found["touch.embedding.weight"], them.state_dict()["touch.embedding.weight"])


def test_with_no_momentum_they_are_the_encoders():
    them = encoders()
    slow = SlowEncoders(them, 0.0)
    learn(them)
    slow.follow(them)
    for name, value in them.state_dict().items():
        assert torch.equal(value, slow.copies.state_dict()[name])


def test_they_have_no_gradient_and_are_nobody_elses():
    them = encoders()
    slow = SlowEncoders(them, 0.9)
    keys = slow(views())
    assert not any(key.requires_grad for key in keys.values())
    assert not any(parameter.requires_grad for parameter in slow.parameters())
    assert all(parameter.requires_grad for parameter in them.parameters())
    learn(them)
    assert not torch.equal(slow.copies["touch"].embedding.weight, them["touch"].embedding.weight)


def test_a_key_depends_on_its_own_sample_alone():
    """Of anchors this does not hold: there it is what a batch norm does."""
    them = encoders()
    learn(them)
    slow = SlowEncoders(them, 0.9)
    first, other = views(), views()
    mixed = {name: torch.cat([first[name][:3], 5 * other[name][3:]]) for name in first}
    keys, beside = slow(first), slow(mixed)
    anchors, apart = them(first), them(mixed)
    for name in first:
        torch.testing.assert_close(keys[name][:3], beside[name][:3])
        assert not torch.allclose(anchors[name][:3], apart[name][:3], atol=0.01)


def test_groups_have_their_own_statistics():
    """Encoded again, each group on its own, as it was drawn."""
    slow = SlowEncoders(encoders(), 0.9, groups=2)
    plain, given = copy.deepcopy(slow.copies), views()
    torch.manual_seed(7)
    keys = slow(given)
    torch.manual_seed(7)
    order = torch.rand(BATCH).argsort()
    for group in (order[:5], order[5:]):
        alone = plain({name: view[group] for name, view in given.items()})
        for name in given:
            torch.testing.assert_close(keys[name][group], alone[name])
            assert not torch.allclose(keys[name][group], plain(given)[name][group], atol=0.01)
    assert not torch.equal(slow(given)["touch"], keys["touch"])  # others are drawn the next time


@pytest.mark.parametrize("groups", [None, 2])
def test_filler_reaches_no_copy(groups):
    slow = SlowEncoders(encoders(), 0.9, groups=groups)
    have = torch.tensor([True, False, True, True, False, True, True, True, True])
    given = views()
    given["sight"][~have] = torch.nan
    keys = slow(given, {"sight": have})
    assert keys["sight"].isfinite().all()
    assert (keys["sight"][~have] == 0).all()
    assert (keys["sight"][have] != 0).any(1).all()
    assert (keys["touch"] != 0).any(1).all()


def test_a_shared_encoder_has_one_copy():
    one = MLP(5, hidden=(8,), dim=3)
    slow = SlowEncoders(Encoders({"left": one, "right": one}), 0.5)
    assert slow.copies["left"] is slow.copies["right"]
    before = slow.copies["left"].embedding.weight.clone()
    with torch.no_grad():
        one.embedding.weight.add_(1.0)
    slow.follow(Encoders({"left": one, "right": one}))
    torch.testing.assert_close(slow.copies["left"].embedding.weight, before + 0.5)  # and moves once


def test_parts_have_keys_too():
    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(4)

        def forward(self, view):
            return {"": self.norm(view), "cells": self.norm(view)[:, None].expand(-1, 3, -1)}

    slow = SlowEncoders(Encoders({"v": Halves()}), 0.9, groups=2)
    assert {node: key.shape for node, key in slow({"v": torch.randn(6, 4)}).items()} == {
        "v": (6, 4),
        "v:cells": (6, 3, 4),
    }


def test_they_start_from_the_statistics_of_a_batch():
    them, given = encoders(), views(50)
    settle(them, given)
    norm = them["touch"].layers["hidden1"][1]
    hidden = given["touch"] @ them["touch"].layers["hidden1"][0].weight.T
    torch.testing.assert_close(norm.running_mean, hidden.mean(0).detach())
    torch.testing.assert_close(norm.running_var, hidden.var(0).detach())
    assert all(part.momentum == 0.1 for part in them.modules() if isinstance(part, nn.BatchNorm1d))
    assert not any(parameter.grad is not None for parameter in them.parameters())
    keys, anchors = SlowEncoders(them, 0.9)(given), them(given)
    for name in keys:
        torch.testing.assert_close(keys[name], anchors[name], rtol=0.1, atol=0.1)
