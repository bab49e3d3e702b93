"""Compiles every encoder without a break, forwards and backwards, and names those that say the same as before."""

from functools import partial

import torch
from torch import nn

from coview.encoders import (
    MLP,
    ResNet,
    SmallConv,
    Strided,
    imagenet_half,
    stl10_half,
    timm_encoder,
    with_cells,
)
from coview.encoders.each import parts

HALF = partial(stl10_half, 1, dim=5, width=0.05)

ENCODERS = {
    "MLP": (partial(MLP, 9, hidden=(8,), dim=5), (9,)),
    "SmallConv": (partial(SmallConv, 2, width=3, hidden=8, dim=5), (2, 21, 30)),
    "imagenet_half": (partial(imagenet_half, 2, dim=5, width=0.05), (2, 224, 224)),
    "stl10_half": (HALF, (1, 49, 70)),
    "strided": (partial(Strided, HALF), (1, 40, 48)),
    "with_cells": (
        partial(with_cells, HALF, layers=("conv1", "conv2"), hidden=8, dim=5, most=90),
        (1, 49, 70),
    ),
    "resnet18": (partial(ResNet, 1, depth=18, width=0.125, dim=5, stem="cifar"), (1, 26, 32)),
    "resnet50": (partial(ResNet, 2, depth=50, width=0.125, dim=5, head="mlp"), (2, 65, 96)),
    "test_convnext": (partial(timm_encoder, "test_convnext", 2, dim=5), (2, 64, 96)),
    "test_vit": (partial(timm_encoder, "test_vit", 2, dim=5, img_size=32), (2, 32, 32)),
}


def learn(encoder: nn.Module, view: torch.Tensor) -> list[torch.Tensor]:
    """The embeddings, and the gradient of every parameter."""
    encoder.zero_grad()
    said = list(parts(encoder(view)).values())
    torch.stack([embedding.square().sum() for embedding in said]).sum().backward()
    return [
        *(embedding.detach() for embedding in said),
        *(one.grad for one in encoder.parameters() if one.grad is not None),
    ]


def compare(encoder: nn.Module, view: torch.Tensor) -> None:
    """Compiled and plain, images in the layout that a GPU likes."""
    if view.ndim == 4:
        encoder.to(memory_format=torch.channels_last)
        view = view.contiguous(memory_format=torch.channels_last)
    torch.compiler.reset()
    compiled = torch.compile(encoder, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(learn(compiled, view), learn(encoder, view))


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    for name, (make, shape) in ENCODERS.items():
        compare(make().double(), torch.randn(7, *shape, dtype=torch.float64))
        print(name)
