"""Networks in the layout of the paper's released files, written anew in plain PyTorch to compare with."""

from collections import OrderedDict

import torch
from torch import nn


def conv(channels: int, maps: int, kernel: int, stride: int, padding: int, pool: bool) -> nn.Sequential:
    parts = [nn.Conv2d(channels, maps, kernel, stride, padding, bias=False), nn.BatchNorm2d(maps), nn.ReLU()]
    return nn.Sequential(*parts, *([nn.MaxPool2d(3, 2)] if pool else []))


def full(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU())


def alexnet_half(channels: int, dim: int) -> nn.Sequential:
    """An AlexNet half, its blocks by their names there."""
    blocks = {
        "conv_block_1": conv(channels, 48, 11, 4, 2, True),
        "conv_block_2": conv(48, 128, 5, 1, 2, True),
        "conv_block_3": conv(128, 192, 3, 1, 1, False),
        "conv_block_4": conv(192, 192, 3, 1, 1, False),
        "conv_block_5": conv(192, 128, 3, 1, 1, True),
        "flat": nn.Flatten(),
        "fc6": full(128 * 36, 2048),
        "fc7": full(2048, 2048),
        "fc8": nn.Sequential(nn.Linear(2048, dim)),
    }
    return nn.Sequential(OrderedDict(blocks))


class Block(nn.Module):
    """A residual block of two 3x3 convolutions, or a bottleneck."""

    def __init__(self, inputs: int, planes: int, stride: int, bottleneck: bool) -> None:
        super().__init__()
        outputs = planes * (4 if bottleneck else 1)
        shapes = [(inputs, planes, 3, stride), (planes, planes, 3, 1)]
        if bottleneck:
            shapes = [(inputs, planes, 1, 1), (planes, planes, 3, stride), (planes, outputs, 1, 1)]
        for number, (one, other, kernel, step) in enumerate(shapes, start=1):
            self.add_module(f"conv{number}", nn.Conv2d(one, other, kernel, step, kernel // 2, bias=False))
            self.add_module(f"bn{number}", nn.BatchNorm2d(other))
        self.count = len(shapes)
        if stride > 1 or inputs != outputs:
            projection = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.downsample = nn.Sequential(projection, nn.BatchNorm2d(outputs))

    def forward(self, flow):
        beside = self.downsample(flow) if hasattr(self, "downsample") else flow
        for number in range(1, self.count + 1):
            flow = getattr(self, f"bn{number}")(getattr(self, f"conv{number}")(flow))
            flow = flow.relu() if number < self.count else flow
        return (flow + beside).relu()


def resnet(
    channels: int, *, counts: tuple[int, ...], base: int, bottleneck: bool, dim: int = 128
) -> nn.Sequential:
    """A residual network whose first stage has `base` planes; 32 is half of the usual."""
    growth, size = (4 if bottleneck else 1), 64
    parts = {
        "conv1": nn.Conv2d(channels, 64, 7, 2, 3, bias=False),
        "bn1": nn.BatchNorm2d(64),
        "relu": nn.ReLU(),
    }
    parts["pool"] = nn.MaxPool2d(3, 2, 1)
    for stage, count in enumerate(counts):
        planes, blocks = base * 2**stage, []
        for number in range(count):
            blocks.append(Block(size, planes, 2 if stage and not number else 1, bottleneck))
            size = planes * growth
        parts[f"layer{stage + 1}"] = nn.Sequential(*blocks)
    parts |= {"avgpool": nn.AdaptiveAvgPool2d(1), "flat": nn.Flatten(), "fc": nn.Linear(size, dim)}
    return nn.Sequential(OrderedDict(parts))


def lively(network: nn.Module) -> nn.Module:
    """Batch norms with statistics and weights that are not those of a fresh one."""
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d | nn.BatchNorm1d):
            nn.init.uniform_(part.running_mean, -0.3, 0.3)
            nn.init.uniform_(part.running_var, 0.5, 1.5)
            nn.init.uniform_(part.weight, 0.5, 1.5)
            nn.init.uniform_(part.bias, -0.3, 0.3)
    return network.eval()


def saved(halves: dict[str, nn.Module], prefix: str) -> dict[str, torch.Tensor]:
    """The weights of both halves under the names of the released files, or wrapped once more."""
    return {
        f"{prefix}{name}.{key}": value
        for name, half in halves.items()
        for key, value in half.state_dict().items()
    }
