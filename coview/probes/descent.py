"""Classifiers that descend by minibatches of frozen features, as those of the paper do (appendix E)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from coview.names import did_you_mean
from coview.probes.scoring import FitPath, full

OPTIMISERS = ("sgd", "adam")

Make = Callable[[int, torch.Generator], nn.Module]
"""From a number of features and a random generator to a classifier of them, as it starts."""

Epochs = Callable[[int], Iterable[tuple[Any, Tensor]]]
"""From the number of an epoch to its batches: what the classifiers are given, and labels."""


@dataclass(frozen=True)
class Descent:
    """How long, how fast; the learning rate is multiplied by `decay` at each milestone."""

    epochs: int = 100
    optimiser: str = "sgd"  # or adam
    learning_rates: tuple[float, ...] = (
        0.1,
    )  # of several, one is chosen on a held-out part of the training set
    momentum: float = 0.9  # of SGD; the first beta of Adam
    milestones: tuple[int, ...] = (60, 75, 90)  # epochs
    decay: float = 0.2
    weight_decay: float = 0.0
    batch: int = 256
    batch_norm: bool = False  # without affine, before the classifier: what the authors advise

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            near = did_you_mean(self.optimiser, OPTIMISERS)
            raise ValueError(f"a probe descends by {' or '.join(OPTIMISERS)}, got '{self.optimiser}'{near}")
        if self.epochs < 1 or self.batch < 2 or not self.learning_rates:
            raise ValueError(
                "a descent has at least one epoch, batches of two and one learning rate, "
                f"got {self.epochs}, {self.batch} and {list(self.learning_rates)}"
            )

    def factor(self, epoch: int) -> float:
        """What the learning rate is multiplied by in an epoch, the first of which is 0."""
        return self.decay ** sum(epoch >= milestone for milestone in self.milestones)

    def start(self, groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
        """The optimiser of some parameters, on CUDA as one kernel."""
        cuda = groups[0]["params"][0].is_cuda
        if self.optimiser == "sgd":
            return torch.optim.SGD(
                groups, momentum=self.momentum, weight_decay=self.weight_decay, fused=cuda or None
            )
        betas = (self.momentum, 0.999)
        return torch.optim.Adam(groups, betas=betas, weight_decay=self.weight_decay, fused=cuda or None)


def descent_path(make: Make, descent: Descent, *, seed: int) -> FitPath:
    """Fits one classifier for each learning rate, from one start, all on the same minibatches."""

    def fit_path(features: Tensor, label: Tensor, learning_rates: Sequence[float]) -> list[nn.Module]:
        generator = torch.Generator().manual_seed(seed)
        start = started(make, features.shape[1], descent, generator)
        start = start.to(features.device, full(features[:0]).dtype)
        classifiers = [deepcopy(start) for _ in learning_rates]
        label = label.long()

        def epoch(number: int) -> Iterator[tuple[Tensor, Tensor]]:
            return minibatches(features, label, descent.batch, generator)

        descend(classifiers, learning_rates, epoch, descent)
        return classifiers

    return fit_path


def started(make: Make, inputs: int, descent: Descent, generator: torch.Generator) -> nn.Module:
    """A classifier as it starts, behind a batch norm where the descent has one."""
    start = make(inputs, generator)
    return nn.Sequential(PlainNorm(inputs), start) if descent.batch_norm else start


@torch.enable_grad()
def descend(
    classifiers: Sequence[nn.Module], learning_rates: Sequence[float], epoch: Epochs, descent: Descent
) -> None:
    """Train classifiers in place on the same batches; each has parameters and a learning rate of its own."""
    optimiser = descent.start(
        [
            {"params": list(one.parameters()), "lr": rate}
            for one, rate in zip(classifiers, learning_rates, strict=True)
        ]
    )
    for one in classifiers:
        one.train()
    for number in range(descent.epochs):
        for group, rate in zip(optimiser.param_groups, learning_rates, strict=True):
            group["lr"] = rate * descent.factor(number)
        for features, label in epoch(number):
            losses = [functional.cross_entropy(one(features), label) for one in classifiers]
            optimiser.zero_grad()
            torch.stack(losses).sum().backward()
            optimiser.step()
    for one in classifiers:
        one.eval()


def minibatches(
    features: Float[Tensor, "N F"], label: Int[Tensor, "N"], size: int, generator: torch.Generator
) -> Iterator[tuple[Float[Tensor, "B F"], Int[Tensor, "B"]]]:
    """All samples once, in the generator's order; a last one that is left alone waits for another epoch."""
    order = torch.randperm(len(features), generator=generator).to(features.device)
    for rows in order.split(size):
        if len(rows) > 1 or len(order) == 1:
            yield full(features[rows]), label[rows]


class PlainNorm(nn.BatchNorm1d):
    """The batch norm before a classifier: without affine, and with the mean of all batches for its statistics.

    Features stand still, so no batch need be forgotten; counting here keeps the host from waiting for the device.
    """

    def __init__(self, inputs: int) -> None:
        super().__init__(inputs, affine=False)
        self.batches = 0

    def forward(self, features: Float[Tensor, "B F"]) -> Float[Tensor, "B F"]:  # pyright: ignore
        if self.training:
            self.batches += 1
            self.momentum = 1 / self.batches
        return super().forward(features)


def linear_start(inputs: int, generator: torch.Generator, *, classes: int) -> nn.Module:
    """A linear classifier at zero: what it descends on is convex, so that the start is forgotten."""
    layer = nn.utils.skip_init(nn.Linear, inputs, classes)
    for values in layer.parameters():
        nn.init.zeros_(values)
    return layer


def mlp_start(inputs: int, generator: torch.Generator, *, classes: int, hidden: int = 200) -> nn.Module:
    """A classifier with one hidden layer of rectified units."""
    return nn.Sequential(
        _at_random(inputs, hidden, generator), nn.ReLU(), _at_random(hidden, classes, generator)
    )


def _at_random(inputs: int, outputs: int, generator: torch.Generator) -> nn.Module:
    """PyTorch's default start, the same on every device, without a draw from its global generator."""
    layer = nn.utils.skip_init(nn.Linear, inputs, outputs)
    bound = inputs**-0.5
    for values in layer.parameters():
        nn.init.uniform_(values, -bound, bound, generator=generator)
    return layer
