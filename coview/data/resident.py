"""Datasets that fit in memory: every field one tensor on the device, no workers, no copies."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from coview.types import Fields, Present, Sample


@dataclass(frozen=True)
class Resident:
    """N samples: fields by name as [N ...] tensors, and where known a label and which views are there."""

    name: str
    fields: Fields
    label: Int[Tensor, "N"] | None = None
    classes: tuple[str, ...] = ()
    present: Mapping[str, Bool[Tensor, "N"]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        sizes = {f"field '{name}'": len(values) for name, values in self.fields.items()}
        sizes |= {f"present '{name}'": len(values) for name, values in self.present.items()}
        if self.label is not None:
            sizes["label"] = len(self.label)
        if not self.fields or 0 in sizes.values():
            raise ValueError(f"dataset '{self.name}' has no samples: give at least one field with one row")
        if len(set(sizes.values())) > 1:
            listing = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise ValueError(
                f"dataset '{self.name}': all fields need one row a sample, but came with {listing}"
            )

    def __len__(self) -> int:
        return len(next(iter(self.fields.values())))

    @property
    def device(self) -> torch.device:
        return next(iter(self.fields.values())).device

    def to(self, device: torch.device | str) -> "Resident":
        """The same samples on another device."""
        return self._map(lambda values: values.to(device))

    def subset(self, index: Int[Tensor, "S"]) -> "Resident":
        """Some of the samples, counted anew from 0."""
        return self._map(lambda values: values[index.to(values.device)])

    def fetch(self, index: Int[Tensor, "B"]) -> Sample:
        """A batch of samples, by index."""
        index = index.to(self.device)
        picked = self.subset(index)
        return Sample(picked.fields, index, picked.present or None, picked.label)

    def epoch(self, batches: Iterable[Tensor]) -> Iterator[Sample]:
        """Batches of samples, by index; nothing has to be fetched ahead."""
        return (self.fetch(index) for index in batches)

    def batches(self, size: int) -> Iterator[Sample]:
        """Every sample once, in order."""
        return self.epoch(torch.arange(len(self), device=self.device).split(size))

    def _map(self, change) -> "Resident":
        fields = {name: change(values) for name, values in self.fields.items()}
        present: Present = {name: change(values) for name, values in self.present.items()}
        label = None if self.label is None else change(self.label)
        return replace(self, fields=fields, present=present, label=label)
