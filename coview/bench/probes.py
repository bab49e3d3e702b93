"""Probes of features that lie on the device: how long each kind takes from features to its number."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from coview.bench.measure import Row, row
from coview.probes import OURS, PAPER, probe_by


@dataclass(frozen=True)
class Size:
    """A training set and a test set of features."""

    train: int
    test: int
    features: int
    classes: int


SIZES = {"cuda": Size(50_000, 5_000, 9_600, 100), "cpu": Size(2_000, 500, 960, 20)}
WAYS = ((OURS, "linear"), (PAPER, "linear"), (OURS, "mlp"), (OURS, "knn"))


def bench_probes(device: torch.device) -> Iterator[Row]:
    """Each kind once, on classes that overlap; the note is what it got right."""
    size = SIZES[device.type]
    train, test = classes_apart(size, device)
    work = f"{size.train:,} x {size.features:,}, {size.classes} classes"
    for protocol, kind in WAYS:
        begun = time.perf_counter()
        score = probe_by(protocol, kind, *train, *test, classes=size.classes)
        milliseconds = 1000 * (time.perf_counter() - begun)
        found = row(work, f"{kind}, {protocol.name}", [milliseconds])
        yield Row(**{**vars(found), "note": f"{score.accuracy:.1f} % right"})


def classes_apart(size: Size, device: torch.device) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Features and labels to train and to test on: rectified, of very unequal variance, as layers are."""
    generator = torch.Generator(device).manual_seed(0)
    scale = torch.logspace(0.5, -1.5, size.features, device=device)
    centre = torch.randn(size.classes, size.features, generator=generator, device=device)

    def drawn(samples: int) -> tuple[Tensor, Tensor]:
        label = torch.arange(samples, device=device) % size.classes
        noise = torch.randn(samples, size.features, generator=generator, device=device)
        return ((6 * size.features**-0.5 * centre[label] + noise) * scale).relu_(), label

    return drawn(size.train), drawn(size.test)
