"""What the pairs ask in a step: queries, and what they choose from, each made once for all pairs that share it."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from coview.contrast.graph import Pair
from coview.contrast.negatives import Negatives
from coview.contrast.shares import mean
from coview.types import Candidates, Embeddings, Present, view_of

Question = tuple[Tensor, Candidates]
"""Queries of some anchors, and what they choose from."""


@dataclass(frozen=True)
class Questions:
    """One step's; targets need not have the anchor's view, anchors need both."""

    critics: nn.ModuleDict  # by pair
    negatives: Negatives
    anchors: Embeddings
    targets: Embeddings
    index: Tensor
    present: Present
    made: dict[Any, Any] = field(default_factory=dict)

    def of(self, pair: Pair) -> Question:
        """Queries of the anchors that have both views, and what they choose from; targets need one view alone."""
        target, both = self._with_target(pair), self._with_both(pair)
        anchors = _some(_some(self.anchors[pair.anchor], target), both)
        ends = pair.anchor, view_of(pair.target) if both is not None or target is not None else ""
        query = self._once("query", pair, ends, lambda: self.critics[pair.name](_flat(anchors)))
        candidates = self._candidates(pair, target)
        return query, _by_cell(anchors, candidates if both is None else candidates.anchors(both))

    def _with_target(self, pair: Pair) -> Tensor | None:
        """Which samples have the target's view; None: all."""
        view = view_of(pair.target)
        if view not in self.present:
            return None
        return self._once("rows", None, view, lambda: self.present[view].nonzero().squeeze(1))

    def _with_both(self, pair: Pair) -> Tensor | None:
        """Which of those that have the target's view have the anchor's too; None: all."""
        view, rows = view_of(pair.anchor), self._with_target(pair)
        if view not in self.present:
            return None
        ends = view, view_of(pair.target)
        return self._once("both", None, ends, lambda: _some(self.present[view], rows).nonzero().squeeze(1))

    def _candidates(self, pair: Pair, rows: Tensor | None) -> Candidates:
        make_key: Any = self.critics[pair.name].key

        def make() -> Candidates:
            key = self._once("key", pair, pair.target, lambda: make_key(self.targets[pair.target]))
            return self.negatives.candidates(pair.target, _some(key, rows), _some(self.index, rows))

        settled = getattr(self.negatives, "settled", False)  # drawn ones are drawn for each pair
        return self._once("candidates", pair, pair.target, make) if settled else make()

    def _once(self, kind: str, pair: Pair | None, of: Any, make: Callable[[], Any]) -> Any:
        """The same for all pairs of an end, unless their critics have weights of their own."""
        critic = None if pair is None else self.critics[pair.name]
        own = critic is not None and next(chain(critic.parameters(), critic.buffers()), None) is not None
        name = (kind, pair.name if pair is not None and own else of)
        if name not in self.made:
            self.made[name] = make()
        return self.made[name]


def share_keys(ours: Candidates, theirs: Candidates) -> bool:
    """Whether anchors of both choose from the very same keys."""
    same = ours.keys is theirs.keys and ours.valid is theirs.valid
    return same and ours.keys.ndim == 2 and (ours.valid is None or ours.valid.ndim == 1)


def together(asked: list[Question]) -> Question:
    """Questions about the same keys as one."""
    queries, candidates = zip(*asked, strict=True)
    match, shard = torch.cat([one.match for one in candidates]), candidates[0].shard
    if shard is not None:
        shard = replace(shard, chosen=torch.cat([one.shard.chosen for one in candidates if one.shard]))
    return torch.cat(queries), replace(candidates[0], match=match, shard=shard)


def log_negatives(candidates: Candidates) -> Tensor | float:
    """Mean log of how many wrong choices an anchor has.

    Other right choices do not count: as rivals they make the loss larger, which then proves that bound all the more.
    """
    if candidates.shard is not None:
        total = candidates.shard.total
        return math.log(max(total - 1, 1)) if isinstance(total, int) else (total - 1).clamp(min=1).log()
    right = candidates.match.shape[1] if candidates.match.ndim == 2 else 1
    if candidates.valid is None:
        return math.log(max(candidates.keys.shape[-2] - right, 1))
    return mean((candidates.valid.sum(-1, keepdim=True) - right).clamp(min=1).float().log())


def _some(values: Tensor, rows: Tensor | None) -> Tensor:
    return values if rows is None else values[rows]


def _flat(anchors: Tensor) -> Tensor:
    """Anchors as vectors: every cell asks on its own."""
    return anchors.flatten(0, 1) if anchors.ndim == 3 else anchors


def _by_cell(anchors: Tensor, candidates: Candidates) -> Candidates:
    """What vectors choose from: each cell from what its sample chooses from."""
    if anchors.ndim == 2:
        return candidates
    samples, cells = anchors.shape[:2]
    rows = torch.arange(samples, device=anchors.device)[:, None].expand(-1, cells)
    return candidates.anchors(rows.flatten())
