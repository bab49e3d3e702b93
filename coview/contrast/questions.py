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
        has_anchor, has_target = (self.present.get(view_of(node)) for node in (pair.anchor, pair.target))
        if has_anchor is None and has_target is None:
            return self._query(pair), self._candidates(pair)
        everyone = torch.ones_like(self.index, dtype=torch.bool)
        has_anchor = everyone if has_anchor is None else has_anchor
        has_target = everyone if has_target is None else has_target
        rows = has_target.nonzero().squeeze(1)
        both = has_anchor[rows].nonzero().squeeze(1)
        candidates = self.negatives.candidates(pair.target, self._key(pair)[rows], self.index[rows])
        anchor = self.anchors[pair.anchor][rows][both]
        return self.critics[pair.name](_flat(anchor)), _by_cell(anchor, candidates.anchors(both))

    def _query(self, pair: Pair) -> Tensor:
        anchor = self.anchors[pair.anchor]
        return self._once("query", pair, pair.anchor, lambda: self.critics[pair.name](_flat(anchor)))

    def _key(self, pair: Pair) -> Tensor:
        make: Any = self.critics[pair.name].key
        return self._once("key", pair, pair.target, lambda: make(self.targets[pair.target]))

    def _candidates(self, pair: Pair) -> Candidates:
        def make() -> Candidates:
            return self.negatives.candidates(pair.target, self._key(pair), self.index)

        settled = getattr(self.negatives, "settled", False)  # drawn ones are drawn for each pair
        found = self._once("candidates", pair, pair.target, make) if settled else make()
        return _by_cell(self.anchors[pair.anchor], found)

    def _once(self, kind: str, pair: Pair, node: str, make: Callable[[], Any]) -> Any:
        """The same for all pairs of a node, unless their critics have weights of their own."""
        critic = self.critics[pair.name]
        own = next(chain(critic.parameters(), critic.buffers()), None) is not None
        name = (kind, pair.name if own else node)
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
