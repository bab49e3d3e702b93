"""Copies of the encoders that follow them slowly and make the keys (He et al. 2020, MoCo)."""

import copy
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from coview import processes
from coview.encoders.each import Encoders
from coview.encoders.norm import moving, norms_of
from coview.types import Embeddings, Present, Views


class SlowEncoders(nn.Module):
    """Of each encoder a copy that is a moving average of it, without gradient.

    Statistics of a batch must not tell which keys were made beside an anchor. So the copies normalise with running
    ones, which follow those of the encoders as parameters do (Cai et al. 2021, EMAN): a key depends on its own sample
    alone. With `groups` a batch is shuffled over all processes, as MoCo does it, and encoded in so many groups on
    each, that have statistics of their own. Where `parts` are no targets, a copy that can leave them out does (see
    `WithJigsaw`).
    """

    def __init__(
        self, encoders: Encoders, momentum: float, *, groups: int | None = None, parts: bool = True
    ) -> None:
        super().__init__()
        self.copies = copy.deepcopy(encoders).requires_grad_(False)
        self.momentum, self.groups = momentum, groups
        self.copies.train(groups is not None)
        for norm in norms_of(self.copies):
            norm.momentum = 0.0  # running statistics follow, and see no batch themselves
        for one in self.copies.values():
            if hasattr(one, "whole_only"):
                one.whole_only = not parts  # pyright: ignore[reportArgumentType]

    @torch.no_grad()
    def forward(self, views: Views, present: Present | None = None) -> Embeddings:
        kind = next(self.parameters()).dtype  # of true half or double precision the views must be too
        views = {name: view.to(kind) if view.is_floating_point() else view for name, view in views.items()}
        if self.groups is None:
            return self.copies(views, present)
        return self._among_others(views, present or {}, self.groups)

    @torch.no_grad()
    def follow(self, encoders: Encoders) -> None:
        """copy <- momentum * copy + (1 - momentum) * encoder, running statistics too; counts are taken over."""
        pairs = list(zip(_values(self.copies), _values(encoders), strict=True))
        mine, theirs = zip(*(pair for pair in pairs if pair[0].is_floating_point()), strict=True)
        torch._foreach_lerp_(mine, theirs, 1 - self.momentum)  # pyright: ignore[reportPrivateImportUsage]
        for count, other in pairs:
            if not count.is_floating_point():
                count.copy_(other)

    def _among_others(self, views: Views, present: Present, groups: int) -> Embeddings:
        """Every sample encoded among random ones of all processes, which must have equally many."""
        views = {name: processes.gather(view) for name, view in views.items()}
        present = {name: processes.gather(have) for name, have in present.items()}
        first = next(iter(views.values()))
        order = torch.rand(len(first), device=first.device).argsort()
        processes.as_first([order])
        mine = processes.deal(order)
        parts = [
            self.copies(_rows(views, group), _rows(present, group)) for group in mine.tensor_split(groups)
        ]
        said = {node: processes.collect(torch.cat([part[node] for part in parts])) for node in parts[0]}
        samples = len(first) // processes.count()
        back = order.argsort()[processes.rank() * samples :][:samples]
        return {node: keys[back] for node, keys in said.items()}


@torch.no_grad()
def settle(encoders: Encoders, views: Views, present: Present | None = None) -> None:
    """Running statistics as this batch has them: copies would take long to forget those of nothing."""
    with moving(encoders, 1.0):
        encoders(views, present)


def _rows(values: Present, rows: Tensor) -> dict[str, Tensor]:
    return {name: value[rows] for name, value in values.items()}


def _values(module: nn.Module) -> Iterator[Tensor]:
    yield from module.parameters()
    yield from module.buffers()
