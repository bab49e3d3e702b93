"""One encoder per view, applied to the samples that have the view."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from coview.types import Embeddings, Present, Views


class Encoders(nn.ModuleDict):
    """Views in, embeddings out, by name. Two names may share one module."""

    def __init__(self, encoders: Mapping[str, nn.Module]) -> None:
        super().__init__(dict(encoders))

    def forward(self, views: Views, present: Present | None = None) -> Embeddings:
        return {name: self._encode(name, views, (present or {}).get(name)) for name in self}

    def _encode(self, name: str, views: Views, have: Tensor | None) -> Tensor:
        """Embeddings of the rows that have the view, zeros elsewhere: filler must not reach a batch norm."""
        if name not in views:
            raise ValueError(f"there is an encoder for view '{name}', but the views are {', '.join(views)}")
        encoder, view = self[name], views[name]
        if have is None or bool(have.all()):
            return encoder(view)
        rows = have.nonzero().squeeze(1)
        if len(rows) < 2:
            # Batch norm has no statistics of one: that one goes through with those it has, none stay zero.
            some = _without_statistics(encoder, view[rows] if len(rows) else view[:1])[: len(rows)]
        else:
            some = encoder(view[rows])
        return some.new_zeros(len(view), *some.shape[1:]).index_copy(0, rows, some)


def _without_statistics(encoder: nn.Module, view: Tensor) -> Tensor:
    before = [(part, part.training) for part in encoder.modules()]
    try:
        return encoder.eval()(torch.nan_to_num(view))
    finally:
        for part, training in before:
            part.training = training
