"""Copies of the encoders that follow them slowly and make the keys (He et al. 2020, MoCo)."""

import copy
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from coview.encoders.each import Encoders
from coview.types import Embeddings, Present, Views


class SlowEncoders(nn.Module):
    """Of each encoder a copy that is a moving average of it, without gradient.

    Statistics of a batch must not tell which keys were made beside an anchor. So the copies normalise with running
    ones, which follow those of the encoders as parameters do (Cai et al. 2021, EMAN): a key depends on its own sample
    alone. With `groups` they normalise with those of random groups of the batch, as MoCo's shuffling does. Where
    `parts` are no targets, a copy that can leave them out does (see `WithJigsaw`).
    """

    def __init__(
        self, encoders: Encoders, momentum: float, *, groups: int | None = None, parts: bool = True
    ) -> None:
        super().__init__()
        self.copies = copy.deepcopy(encoders).requires_grad_(False)
        self.momentum, self.groups = momentum, groups
        self.copies.train(groups is not None)
        for one in self.copies.values():
            if hasattr(one, "whole_only"):
                one.whole_only = not parts  # pyright: ignore[reportArgumentType]

    @torch.no_grad()
    def forward(self, views: Views, present: Present | None = None) -> Embeddings:
        kind = next(
            self.parameters()
        ).dtype  # in half or double precision the encoders' inputs are converted too
        views = {name: view.to(kind) if view.is_floating_point() else view for name, view in views.items()}
        if self.groups is None:
            return self.copies(views, present)
        first = next(iter(views.values()))
        order = torch.rand(len(first), device=first.device).argsort()
        parts = [
            self.copies(_rows(views, group), _rows(present or {}, group))
            for group in order.tensor_split(self.groups)
        ]
        back = order.argsort()
        return {node: torch.cat([part[node] for part in parts])[back] for node in parts[0]}

    @torch.no_grad()
    def follow(self, encoders: Encoders) -> None:
        """copy <- momentum * copy + (1 - momentum) * encoder, running statistics too; counts are taken over."""
        pairs = list(zip(_values(self.copies), _values(encoders), strict=True))
        mine, theirs = zip(*(pair for pair in pairs if pair[0].is_floating_point()), strict=True)
        torch._foreach_lerp_(mine, theirs, 1 - self.momentum)  # pyright: ignore[reportPrivateImportUsage]
        for count, other in pairs:
            if not count.is_floating_point():
                count.copy_(other)


@torch.no_grad()
def settle(encoders: Encoders, views: Views, present: Present | None = None) -> None:
    """Running statistics as this batch has them: copies would take long to forget those of nothing."""
    norms = [part for part in encoders.modules() if isinstance(part, _BatchNorm)]
    before = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 1.0
    encoders(views, present)
    for norm, momentum in zip(norms, before, strict=True):
        norm.momentum = momentum


def _rows(values: Present, rows: Tensor) -> dict[str, Tensor]:
    return {name: value[rows] for name, value in values.items()}


def _values(module: nn.Module) -> Iterator[Tensor]:
    yield from module.parameters()
    yield from module.buffers()
