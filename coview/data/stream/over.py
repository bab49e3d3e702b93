"""A dataset that is a `Stream` with something around it."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from coview.data.stream.stream import Stream


@dataclass(frozen=True)
class OverStream:
    """What such a dataset says of itself is what its stream says."""

    stream: Stream

    @property
    def name(self) -> str:
        return self.stream.name

    @property
    def classes(self) -> tuple[str, ...]:
        return self.stream.classes

    @property
    def label(self) -> Tensor | None:
        return self.stream.label

    @property
    def present(self) -> Mapping[str, Tensor]:
        return self.stream.present

    @property
    def device(self) -> torch.device:
        return self.stream.device

    def __len__(self) -> int:
        return len(self.stream)
