"""One encoder per view, applied to the samples that have the view."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from coview.encoders.norm import is_synchronised
from coview.types import Embeddings, Present, Views, node_of


@dataclass(frozen=True)
class SameAs:
    """In place of an encoder's maker: the view is encoded by the encoder of another view, weights and all."""

    view: str

    def __call__(self) -> nn.Module:
        raise TypeError(
            f"the encoder of '{self.view}' is shared: `build_encoders` makes it once for all its views"
        )


Parts = dict[str, Tensor]
"""What one encoder says of a view, by part: {"": [B D], "conv2": [B P D]}; the part without a name is the whole."""


def parts(said: Any) -> Parts:
    """What an encoder says, by part; of those that return one embedding that is the whole."""
    if isinstance(said, Tensor):
        return {"": said}
    if isinstance(said, dict):
        return said
    raise ValueError(
        f"an encoder returns [B D], or a dict of embeddings by part, got a {type(said).__name__}"
    )


def whole(said: Any) -> Tensor:
    """The embedding of a view as a whole, of an encoder that may also embed parts of it."""
    found = parts(said)
    if "" not in found:
        raise ValueError(
            f"wanted an embedding of the whole view, but the encoder embeds only {', '.join(found)}: "
            "let it return that one too, under the name ''"
        )
    return found[""]


class Encoders(nn.ModuleDict):
    """Views in, embeddings out, by node: a view, or a part of one. Two names may share one module."""

    def __init__(self, encoders: Mapping[str, nn.Module]) -> None:
        super().__init__(dict(encoders))

    def forward(self, views: Views, present: Present | None = None) -> Embeddings:
        return {
            node_of(name, part): embedding
            for name in self
            for part, embedding in self._encode(name, views, (present or {}).get(name)).items()
        }

    def _encode(self, name: str, views: Views, have: Tensor | None) -> Parts:
        """Embeddings of the rows that have the view, zeros elsewhere: filler must not reach a batch norm."""
        if name not in views:
            raise ValueError(f"there is an encoder for view '{name}', but the views are {', '.join(views)}")
        encoder, view = self[name], views[name]
        if have is None or bool(have.all()):
            return parts(encoder(view))
        rows = have.nonzero().squeeze(1)
        if len(rows) < 2 and not is_synchronised(encoder):
            # Batch norm has no statistics of one: that one goes through with those it has, none stay zero.
            some = _without_statistics(encoder, view[rows] if len(rows) else view[:1])
        else:
            some = parts(encoder(view[rows]))
        return {part: _spread(said[: len(rows)], rows, len(view)) for part, said in some.items()}


def _spread(some: Tensor, rows: Tensor, count: int) -> Tensor:
    return some.new_zeros(count, *some.shape[1:]).index_copy(0, rows, some)


def _without_statistics(encoder: nn.Module, view: Tensor) -> Parts:
    before = [(part, part.training) for part in encoder.modules()]
    try:
        return parts(encoder.eval()(torch.nan_to_num(view)))
    finally:
        for part, training in before:
            part.training = training
