"""Projection heads: every encoder can have one, and probes look below it."""

from functools import partial

import pytest
import torch
from torch import nn

from coview.encoders import (
    MLP,
    ResNet,
    SmallConv,
    Strided,
    cifar10_half,
    imagenet_half,
    stl10_half,
    timm_encoder,
    with_cells,
    with_head,
    with_jigsaw,
)
from coview.encoders.each import whole

small = partial(SmallConv, 2, width=3, hidden=6, dim=5)
EVERY = {
    "MLP": (partial(MLP, 9, hidden=(8,), dim=5), (9,), "hidden1"),
    "SmallConv": (small, (2, 21, 30), "fc"),
    "imagenet_half": (partial(imagenet_half, 2, dim=5, width=0.05), (2, 70, 70), "fc7"),
    "stl10_half": (partial(stl10_half, 1, dim=5, width=0.05), (1, 49, 70), "fc7"),
    "cifar10_half": (partial(cifar10_half, 1, dim=5, width=0.05), (1, 32, 32), "fc7"),
    "ResNet": (partial(ResNet, 1, depth=18, width=0.125, dim=5, stem="cifar"), (1, 26, 32), "pooled"),
    "timm": (partial(timm_encoder, "test_vit", 2, dim=5, img_size=32), (2, 32, 32), "pooled"),
    "strided": (partial(Strided, partial(stl10_half, 1, dim=5, width=0.05)), (1, 64, 64), "fc7"),
    "cells": (partial(with_cells, small, layers=("conv2",), dim=5), (2, 21, 30), "fc"),
    "jigsaw": (partial(with_jigsaw, small, tile=7, dim=5), (2, 21, 30), "fc"),
}


@pytest.mark.parametrize("name", list(EVERY))
def test_every_encoder_can_have_one(name):
    make, shape, layer = EVERY[name]
    view = torch.randn(3, *shape)
    torch.manual_seed(1)
    plain = make().eval()
    torch.manual_seed(1)
    model = with_head(make, hidden=7).eval()
    below, before = model.features(view), plain.features(view)
    assert list(below) == list(before)
    assert torch.equal(below[layer], before[layer])  # what probes look at is as it was
    head = next(part for part_name, part in model.named_modules() if part_name.split(".")[-1] == "embedding")
    assert [type(part) for part in head] == [nn.Linear, nn.ReLU, nn.Linear]
    wanted = head[2](head[0](below[layer].flatten(1)).relu())
    torch.testing.assert_close(below["embedding"], wanted)
    torch.testing.assert_close(whole(model(view)), wanted)
    assert wanted.shape == (3, 5)
    assert not torch.allclose(wanted, before["embedding"])


def test_its_hidden_layer():
    plain, normed = with_head(small), with_head(small, norm=True)
    assert (plain.embedding[0].in_features, plain.embedding[0].out_features) == (6, 6)
    assert plain.embedding[0].bias is not None
    assert isinstance(normed.embedding[1], nn.BatchNorm1d)
    assert normed.embedding[0].bias is None
    assert normed(torch.randn(3, 2, 20, 20)).shape == (3, 5)


def test_an_encoder_without_an_embedding_layer():
    with pytest.raises(ValueError, match="linear layer called 'embedding', and Linear has 0 of them"):
        with_head(partial(nn.Linear, 3, 4))
    with pytest.raises(ValueError, match="Sequential has 2 of them"):
        with_head(lambda: nn.Sequential(small(), small()))
