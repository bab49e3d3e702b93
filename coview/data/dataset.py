"""What training and probes ask of a dataset, whether it lies on the device or streams from a disk."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from coview.types import Sample


@runtime_checkable
class Dataset(Protocol):
    """N samples by number; label and presence, where known, as one tensor of N rows each."""

    @property
    def name(self) -> str: ...

    @property
    def classes(self) -> tuple[str, ...]: ...

    @property
    def label(self) -> Tensor | None: ...

    @property
    def present(self) -> Mapping[str, Tensor]: ...

    @property
    def device(self) -> torch.device: ...

    def __len__(self) -> int: ...

    def to(self, device: torch.device | str) -> Any:
        """The same samples, arriving on another device."""
        ...

    def subset(self, index: Tensor) -> Any:
        """Some of the samples, counted anew from 0."""
        ...

    def fetch(self, index: Tensor) -> Sample:
        """A batch of samples, by index."""
        ...

    def epoch(self, batches: Iterable[Tensor]) -> Iterator[Sample]:
        """Batches of samples by index, the next one on its way while one is used."""
        ...

    def batches(self, size: int) -> Iterator[Sample]:
        """Every sample once, in order."""
        ...


@runtime_checkable
class Ordered(Protocol):
    """A dataset that says in which order an epoch is best read."""

    def order(self, batch_size: int, *, seed: int, epoch: int) -> Iterator[Tensor]:
        """Batches of sample numbers, shuffled anew each epoch; those that fill no batch wait for another epoch."""
        ...
