"""The method: for every directed pair, anchors become queries and choose among candidates of the target."""

import copy
import math
import warnings
from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor, nn

from coview.contrast.critic import Critic
from coview.contrast.graph import Pair, PairGraph
from coview.contrast.losses import softmax_loss
from coview.contrast.negatives import Negatives
from coview.information import infonce_bound
from coview.types import Candidates, Embeddings, Present

Loss = Callable[[Tensor, Candidates], Tensor]
Question = tuple[Tensor, Candidates]
"""Queries of some anchors, and what they choose from."""


class Objective(nn.Module):
    """One weighted loss term per directed pair; their sum is the paper's objective (equations 4, 7 and 8).

    A critic or loss that holds state (a bilinear form, NCE's normaliser) is copied, one for each pair.
    """

    def __init__(
        self, graph: PairGraph, critic: Critic, negatives: Negatives, loss: Loss = softmax_loss
    ) -> None:
        super().__init__()
        self.graph, self.negatives = graph, negatives
        self.pairs = tuple(graph.directed())
        self.critics = nn.ModuleDict({pair.name: copy.deepcopy(critic) for pair in self.pairs})
        self.losses = {pair.name: copy.deepcopy(loss) for pair in self.pairs}
        self.stateful = nn.ModuleDict(
            {n: one for n, one in self.losses.items() if isinstance(one, nn.Module)}
        )
        self.ceilings: dict[str, Tensor | float] = {}  # log of the negatives of the last forward, by pair

    def forward(
        self, embeddings: Embeddings, index: Tensor, present: Present | None = None
    ) -> dict[str, Tensor]:
        self._check(embeddings, present)
        self.ceilings = {}
        terms: dict[str, Tensor] = {}
        questions: dict[str, Question] = {}
        for pair in self.pairs:
            anchor, candidates = self._choices(pair, embeddings, index, present or {})
            if len(anchor):
                questions[pair.name] = self.critics[pair.name](anchor), candidates
        for pair, loss in self._answers(questions):
            terms[pair.name] = pair.weight * loss.mean()  # over the anchors that have both views
            self.ceilings[pair.name] = _log_negatives(questions[pair.name][1])
        if not terms:
            raise ValueError(
                f"no sample of this batch has both views of any pair of {list(self.graph.edges)}"
            )
        return terms

    def bounds(
        self, terms: Mapping[str, Tensor | float], ceilings: Mapping[str, Tensor | float] | None = None
    ) -> dict[str, Tensor | float]:
        """The mutual information in nats that each term proves, where the loss is a softmax.

        The terms are those of the last forward, unless the ceilings of another one are given.
        """
        ceilings = self.ceilings if ceilings is None else ceilings
        weights = {pair.name: pair.weight for pair in self.pairs if self.losses[pair.name] is softmax_loss}
        return {
            name: infonce_bound(
                (term.detach() if isinstance(term, Tensor) else term) / weights[name], ceilings[name]
            )
            for name, term in terms.items()
            if name in weights
        }

    @torch.no_grad()
    def remember(self, embeddings: Embeddings, index: Tensor, present: Present | None = None) -> None:
        """Everything that changes in memory, changes here: call it after the optimiser."""
        keys = {view: self._key(view, embedding) for view, embedding in embeddings.items()}
        self.negatives.update(keys, index, present)
        for loss in self.stateful.values():
            if callable(update := getattr(loss, "update", None)):
                update()

    def _answers(self, questions: dict[str, Question]) -> Iterator[tuple[Pair, Tensor]]:
        """The loss of each pair's anchors; pairs that choose from the same keys share one sweep over them."""
        pairs = [pair for pair in self.pairs if pair.name in questions]
        while pairs:
            first = questions[pairs[0].name][1]
            alike = [pair for pair in pairs if self._shares(pair, pairs[0], questions[pair.name][1], first)]
            asked = [questions[pair.name] for pair in alike]
            loss = self.losses[pairs[0].name](*(asked[0] if len(asked) == 1 else _together(asked)))
            yield from zip(alike, loss.split([len(query) for query, _ in asked]), strict=True)
            pairs = [pair for pair in pairs if pair not in alike]

    def _shares(self, pair: Pair, other: Pair, ours: Candidates, theirs: Candidates) -> bool:
        """Whether two pairs choose from the very same keys, by a loss without a state of its own."""
        same = ours.keys is theirs.keys and ours.valid is theirs.valid
        plain = self.losses[pair.name] is softmax_loss and self.losses[other.name] is softmax_loss
        return pair is other or (same and plain and not ours.keys.requires_grad and ours.keys.ndim == 2)

    def _choices(
        self, pair: Pair, embeddings: Embeddings, index: Tensor, present: Present
    ) -> tuple[Tensor, Candidates]:
        """The anchors that have both views, and what they choose from: targets need not have the anchor's view."""
        anchor = embeddings[pair.anchor]
        target = self.critics[pair.name].key(embeddings[pair.target])  # pyright: ignore[reportCallIssue]
        has_anchor, has_target = present.get(pair.anchor), present.get(pair.target)
        if has_anchor is None and has_target is None:
            return anchor, self.negatives.candidates(pair.target, target, index)
        everyone = torch.ones_like(index, dtype=torch.bool)
        has_anchor = everyone if has_anchor is None else has_anchor
        has_target = everyone if has_target is None else has_target
        rows = has_target.nonzero().squeeze(1)
        both = has_anchor[rows].nonzero().squeeze(1)
        if not len(both):
            return anchor[:0], Candidates(target[:0], index[:0])
        candidates = self.negatives.candidates(pair.target, target[rows], index[rows])
        return anchor[rows][both], candidates.anchors(both)

    def _key(self, view: str, embedding: Tensor) -> Tensor:
        pair = next((pair for pair in self.pairs if pair.target == view), None)
        return embedding if pair is None else self.critics[pair.name].key(embedding)  # pyright: ignore

    def _check(self, embeddings: Embeddings, present: Present | None) -> None:
        missing = [view for view in self.graph.views if view not in embeddings]
        if missing:
            raise ValueError(
                f"the graph contrasts '{missing[0]}', but there are embeddings of {', '.join(embeddings)} only: "
                "add an encoder for it, or take it out of the graph"
            )
        sizes = {view: embeddings[view].shape[-1] for view in self.graph.views}
        if len(set(sizes.values())) > 1:
            listing = ", ".join(f"{view} {size}" for view, size in sizes.items())
            raise ValueError(f"embeddings must have one size to be compared, got {listing}")
        for view, have in (present or {}).items():
            if have.device.type == "cpu" and not have.any():
                warnings.warn(
                    f"view '{view}' is missing for all {len(have)} samples of a batch: its pairs are left out of "
                    "that step; a larger batch makes it rarer",
                    stacklevel=3,
                )


def _together(asked: list[Question]) -> Question:
    """Questions about the same keys as one."""
    queries, candidates = zip(*asked, strict=True)
    match = torch.cat([one.match for one in candidates])
    return torch.cat(queries), Candidates(candidates[0].keys, match, candidates[0].valid)


def _log_negatives(candidates: Candidates) -> Tensor | float:
    """Mean log of how many wrong choices an anchor has."""
    if candidates.valid is None:
        return math.log(max(candidates.keys.shape[-2] - 1, 1))
    return (candidates.valid.sum(-1) - 1).clamp(min=1).float().log().mean()
