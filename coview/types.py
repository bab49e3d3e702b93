"""The nouns of the library: samples, views, embeddings, batches and candidates.

Letters in shapes: N samples of a dataset, B samples of a batch, D numbers of an embedding, P cells of a sample,
K candidates, C channels, H and W height and width, T frames (of clips [B T C H W]), V views.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Fields = dict[str, Tensor]
"""What a dataset stores for a batch of samples, by field name: {"rgb": uint8 [B 3 H W], "depth": float [B 1 H W]}."""

Views = dict[str, Tensor]
"""What the encoders see, by view name: {"L": [B 1 H W], "ab": [B 2 H W]}."""

Embeddings = dict[str, Tensor]
"""What the encoders say, by node: {"L": [B D], "ab": [B D], "ab:conv2": [B P D]}.

A node is a view as a whole, or with a part of it that its encoder also embeds, as P cells or as one vector.
"""

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
    second: Fields | None = None  # the same samples, augmented once more


@dataclass(frozen=True)
class Batch:
    """A batch of samples cut into views."""

    views: Views
    index: Int[Tensor, "B"]
    present: Present | None = None
    label: Int[Tensor, "B"] | None = None
    second: Views | None = None  # cut from a second crop, of which the keys are made


@dataclass(frozen=True)
class Shard:
    """What anchors need to know besides, where the keys at hand are one process's part of them all."""

    chosen: Float[Tensor, "B D"]  # the true ones, fetched from the processes that hold them
    total: int | Int[Tensor, ""]  # candidates in all processes together
    stand_ins: Float[Tensor, "S D"] | None = None  # keys of this process's samples that nobody holds yet
    standing: Bool[Tensor, "S"] | None = None  # which of them take part
    uneven: bool = False  # whether processes may have unequal numbers of anchors

    def anchors(self, rows: Int[Tensor, "A"]) -> "Shard":
        """What some of the anchors need to know."""
        return replace(self, chosen=self.chosen[rows])


@dataclass(frozen=True)
class Candidates:
    """What the anchors of a batch choose from, and which choice is right."""

    keys: Float[Tensor, "K D"] | Float[Tensor, "B K D"]  # shared by the batch, or one draw per anchor
    match: (
        Int[Tensor, "B"] | Int[Tensor, "B P"]
    )  # the column of the true one, or of several, each asked on its own; with a shard, its number among all
    valid: Bool[Tensor, "K"] | Bool[Tensor, "B K"] | None = None  # columns that take part; None: all
    rivals: bool = False  # whether, where one true one is asked, the others are wrong choices
    shard: Shard | None = None  # None: the keys are all that there are

    def anchors(self, rows: Int[Tensor, "A"]) -> "Candidates":
        """The candidates of some of the anchors; a row may come more than once."""
        keys = self.keys if self.keys.ndim == 2 else self.keys[rows]
        valid = self.valid if self.valid is None or self.valid.ndim == 1 else self.valid[rows]
        shard = self.shard and self.shard.anchors(rows)
        return Candidates(keys, self.match[rows], valid, rivals=self.rivals, shard=shard)


def view_of(node: str) -> str:
    """The view of which a node is the whole or a part: "ab" of "ab" and of "ab:conv2"."""
    return node.partition(":")[0]


def node_of(view: str, part: str) -> str:
    """The node of a part of a view; the part without a name is the whole."""
    return f"{view}:{part}" if part else view
