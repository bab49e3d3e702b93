"""The nouns of the library: samples, views, embeddings, batches and candidates.

Letters in shapes: N samples of a dataset, B samples of a batch, D numbers of an embedding, K candidates,
C channels, H and W height and width, T frames (of clips [B T C H W]), V views.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Fields = dict[str, Tensor]
"""What a dataset stores for a batch of samples, by field name: {"rgb": uint8 [B 3 H W], "depth": float [B 1 H W]}."""

Views = dict[str, Tensor]
"""What the encoders see, by view name: {"L": [B 1 H W], "ab": [B 2 H W]}."""

Embeddings = dict[str, Tensor]
"""What the encoders say, by view name: {"L": [B D], "ab": [B D]}."""

Present = Mapping[str, Tensor]
"""Which samples have a view, by view name, as a bool per sample; a view that is not named is there for all."""

View = Callable[[Fields], Tensor]
"""A view is a function from a batch of fields to a batch of what an encoder takes."""

Augment = Callable[[Fields, torch.Generator], Fields]
"""An augmentation changes the fields of a batch, all alike, so that views cut from them stay aligned."""


Still = Callable[[Fields], Fields]
"""What takes the place of an augmentation where nothing is to be random: a crop of the middle, for example."""


@dataclass(frozen=True)
class Sample:
    """A batch of samples as a dataset stores them, before augmentation and before they are cut into views."""

    fields: Fields
    index: Int[Tensor, "B"]
    present: Present | None = None
    label: Int[Tensor, "B"] | None = None


@dataclass(frozen=True)
class Batch:
    """A batch of samples cut into views."""

    views: Views
    index: Int[Tensor, "B"]
    present: Present | None = None
    label: Int[Tensor, "B"] | None = None


@dataclass(frozen=True)
class Candidates:
    """What the anchors of a batch choose from, and which choice is right."""

    keys: Float[Tensor, "K D"] | Float[Tensor, "B K D"]  # shared by the batch, or one draw per anchor
    match: Int[Tensor, "B"]  # the column of the true one
    valid: Bool[Tensor, "K"] | Bool[Tensor, "B K"] | None = None  # columns that take part; None: all

    def anchors(self, rows: Int[Tensor, "A"]) -> "Candidates":
        """The candidates of some of the anchors."""
        keys = self.keys if self.keys.ndim == 2 else self.keys[rows]
        valid = self.valid if self.valid is None or self.valid.ndim == 1 else self.valid[rows]
        return Candidates(keys, self.match[rows], valid)
