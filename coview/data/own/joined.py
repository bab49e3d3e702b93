"""Maps that stream from files, and beside them tables that lie in memory, as one dataset."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from coview.data.resident import Resident
from coview.data.stream import OverStream
from coview.types import Sample


@dataclass(frozen=True)
class Joined(OverStream):
    """The fields of both, sample by sample; label and presence are those of the stream."""

    tables: Resident

    def to(self, device: torch.device | str) -> "Joined":
        """The same samples, arriving on another device."""
        return Joined(self.stream.to(device), self.tables.to(device))

    def subset(self, index: Tensor) -> "Joined":
        """Some of the samples, counted anew from 0."""
        return Joined(self.stream.subset(index), self.tables.subset(index))

    def fetch(self, index: Tensor) -> Sample:
        """A batch of samples, by index, without those whose files are broken."""
        return self._join(self.stream.fetch(index))

    def epoch(self, batches: Iterable[Tensor]) -> Iterator[Sample]:
        """Batches of samples by index, the next one on its way while one is used."""
        return map(self._join, self.stream.epoch(batches))

    def batches(self, size: int) -> Iterator[Sample]:
        """Every sample once, in order."""
        return map(self._join, self.stream.batches(size))

    def _join(self, sample: Sample) -> Sample:
        beside = self.tables.subset(sample.index).fields
        return replace(sample, fields={**sample.fields, **beside})
