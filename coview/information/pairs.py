"""Pairs of samples of two views: from two tensors, or cut from a dataset as training cuts them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Int, Shaped
from torch import Tensor

from coview.names import did_you_mean
from coview.types import Augment, Sample, View

AT_ONCE = 1024  # samples of a batch where nothing has to be kept for a gradient


@runtime_checkable
class Samples(Protocol):
    """What is asked of a dataset here."""

    @property
    def name(self) -> str: ...

    @property
    def present(self) -> Mapping[str, Tensor]: ...

    @property
    def device(self) -> torch.device: ...

    def __len__(self) -> int: ...

    def fetch(self, index: Tensor) -> Sample: ...


@runtime_checkable
class Pairs(Protocol):
    """N samples, each in two views; with a `group` of each (a picture, a clip), whole groups are held out."""

    @property
    def group(self) -> Tensor | None: ...

    @property
    def device(self) -> torch.device: ...

    def __len__(self) -> int: ...

    def fetch(self, index: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Both views of some samples; what is random about them is drawn from the generator."""
        ...


@dataclass(frozen=True)
class TensorPairs:
    """Row by row, the two views of N samples."""

    first: Shaped[Tensor, "N ..."]
    second: Shaped[Tensor, "_ ..."]
    group: Int[Tensor, "N"] | None = None

    def __post_init__(self) -> None:
        if len(self.first) != len(self.second):
            raise ValueError(
                f"wanted both views of each sample, row by row, got {len(self.first)} samples of the first view and "
                f"{len(self.second)} of the second"
            )
        if self.first.device != self.second.device:
            raise ValueError(
                f"the views lie on {self.first.device} and {self.second.device}: move one of them"
            )

    @property
    def device(self) -> torch.device:
        return self.first.device

    def __len__(self) -> int:
        return len(self.first)

    def fetch(self, index: Int[Tensor, "B"], generator: torch.Generator) -> tuple[Tensor, Tensor]:
        return as_numbers(self.first[index]), as_numbers(self.second[index])


@dataclass(frozen=True)
class ViewPairs:
    """Two views of a dataset, by the augmentation that training uses, or by what stands in its place."""

    data: Samples
    first: View
    second: View
    augment: Augment | None = None
    rows: Int[Tensor, "N"] | None = None  # samples that take part; None: all
    group: Int[Tensor, "N"] | None = None

    @property
    def device(self) -> torch.device:
        return self.data.device

    def __len__(self) -> int:
        return len(self.data) if self.rows is None else len(self.rows)

    def fetch(self, index: Int[Tensor, "B"], generator: torch.Generator) -> tuple[Tensor, Tensor]:
        fields = self.data.fetch(index if self.rows is None else self.rows[index]).fields
        if self.augment is not None:
            fields = self.augment(fields, generator)
        return as_numbers(self.first(fields)), as_numbers(self.second(fields))


def view_pairs(
    data: Samples, views: Mapping[str, View], first: str, second: str, *, augment: Augment | None = None
) -> ViewPairs:
    """Two views of a dataset by their names, of the samples that have both."""
    for name in (first, second):
        if name not in views:
            raise ValueError(
                f"there is no view '{name}'{did_you_mean(name, views)}; there are {', '.join(views)}"
            )
    there = [data.present[name] for name in (first, second) if name in data.present]
    rows = torch.stack(there).all(0).nonzero().squeeze(1).to(data.device) if there else None
    group = getattr(data, "group", None)
    if group is not None and rows is not None:
        group = group[rows]
    return ViewPairs(data, views[first], views[second], augment, rows, group)


def as_numbers(view: Tensor) -> Tensor:
    """In float32, at least [B 1]."""
    return view.float() if view.ndim > 1 else view.float()[:, None]


def fetch_many(pairs: Pairs, index: Int[Tensor, "B"], *, seed: int) -> tuple[Tensor, Tensor]:
    """Both views of many samples, whose random part is the same each time."""
    generator = torch.Generator(pairs.device).manual_seed(seed)
    parts = [pairs.fetch(part, generator) for part in index.split(AT_ONCE)]
    first, second = zip(*parts, strict=True)
    return torch.cat(first), torch.cat(second)
