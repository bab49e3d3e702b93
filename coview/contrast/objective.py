"""The method: for every directed pair, anchors become queries and choose among candidates of the target."""

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor, nn

from coview import processes
from coview.contrast.critic import Critic
from coview.contrast.graph import Pair, PairGraph
from coview.contrast.losses import softmax_loss
from coview.contrast.negatives import Negatives
from coview.contrast.questions import Question, Questions, log_negatives, share_keys, together
from coview.contrast.shares import mean, shares_of_anchors
from coview.information import infonce_bound
from coview.types import Candidates, Embeddings, Present, Views

Loss = Callable[[Tensor, Candidates], Tensor]


class Objective(nn.Module):
    """One weighted loss term per directed pair; their sum is the paper's objective (equations 4, 7 and 8).

    The ends of a pair are nodes: views, or parts of them. Cells [B P D] as a target are P matches for every anchor,
    each asked on its own; as an anchor they are P questions about the same candidates.

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
        self,
        embeddings: Embeddings,
        index: Tensor,
        present: Present | None = None,
        *,
        views: Views | None = None,
        keys: Embeddings | None = None,
    ) -> dict[str, Tensor]:
        """The terms by pair; `keys` embed the targets, where other encoders or another crop make them."""
        self.check(embeddings)
        if processes.count() == 1:  # of several, others may have it
            _warn_of_gaps(present or {})
        with torch.autocast(index.device.type, enabled=False):  # scores are computed in full
            return self._terms(embeddings, embeddings if keys is None else keys, index, present or {})

    def _terms(
        self, embeddings: Embeddings, keys: Embeddings, index: Tensor, present: Present
    ) -> dict[str, Tensor]:
        self.ceilings = {}
        terms: dict[str, Tensor] = {}
        asked: dict[str, Question] = {}
        questions = Questions(self.critics, self.negatives, embeddings, keys, index, present)
        shares = shares_of_anchors(self.pairs, index, present)
        for pair in self.pairs:
            if pair.name in shares:
                asked[pair.name] = questions.of(pair)
                self.ceilings[pair.name] = log_negatives(asked[pair.name][1]) * shares[pair.name]
        for pair, loss in self._answers(asked):
            share = shares[pair.name]  # averaged over the anchors that have both views, of all processes
            scale = pair.weight * share
            terms[pair.name] = mean(loss) if scale == 1 else scale * mean(loss)
        if not terms:
            raise ValueError(f"no sample of this batch has both views of any pair of {self.graph}")
        return {pair.name: terms[pair.name] for pair in self.pairs if pair.name in terms}

    @property
    def hindrance(self) -> str | None:
        """Why a step cannot be recorded as a CUDA graph, if something here looks at the data."""
        if not getattr(self.negatives, "steady", False):
            return "the negatives are not steady"
        steady = all(getattr(loss, "steady", True) for loss in self.losses.values())
        return None if steady else "a loss looks at its scores"

    def check(self, embeddings: Embeddings) -> None:
        """Refuse embeddings that the graph cannot contrast."""
        missing = [node for node in self.graph.nodes if node not in embeddings]
        if missing:
            raise ValueError(
                f"the graph contrasts '{missing[0]}', but there are embeddings of {', '.join(embeddings)} only: "
                "add an encoder for it, or take it out of the graph"
            )
        sizes = {node: embeddings[node].shape[-1] for node in self.graph.nodes}
        if len(set(sizes.values())) > 1:
            listing = ", ".join(f"{node} {size}" for node, size in sizes.items())
            raise ValueError(f"embeddings must have one size to be compared, got {listing}")
        self._check_cells({node for node in self.graph.nodes if embeddings[node].ndim == 3})

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
        vectors = {node: embedding for node, embedding in embeddings.items() if embedding.ndim == 2}
        keys = {node: self._key(node, embedding) for node, embedding in vectors.items()}
        self.negatives.update(keys, index, present)
        for loss in self.stateful.values():
            if callable(update := getattr(loss, "update", None)):
                update()

    def _answers(self, questions: dict[str, Question]) -> Iterator[tuple[Pair, Tensor]]:
        """The loss of each pair's anchors; pairs that choose from the same keys share one sweep over them."""
        pairs = [pair for pair in self.pairs if pair.name in questions]
        while pairs:
            first = pairs[0]
            alike = [pair for pair in pairs if pair is first or self._share(pair, first, questions)]
            asked = [questions[pair.name] for pair in alike]
            loss = self.losses[first.name](*(asked[0] if len(asked) == 1 else together(asked)))
            yield from zip(alike, loss.split([len(query) for query, _ in asked]), strict=True)
            pairs = [pair for pair in pairs if pair not in alike]

    def _share(self, pair: Pair, other: Pair, questions: dict[str, Question]) -> bool:
        """Whether two pairs choose from the same keys, by a loss without a state of its own."""
        plain = self.losses[pair.name] is softmax_loss and self.losses[other.name] is softmax_loss
        return plain and share_keys(questions[pair.name][1], questions[other.name][1])

    def _key(self, node: str, embedding: Tensor) -> Tensor:
        pair = next((pair for pair in self.pairs if pair.target == node), None)
        return embedding if pair is None else self.critics[pair.name].key(embedding)  # pyright: ignore

    def _check_cells(self, cells: set[str]) -> None:
        """Cells go with whole views, and only with negatives that say that they can hold them."""
        for pair in self.pairs:
            if pair.target in cells and pair.anchor in cells:
                raise ValueError(
                    f"'{pair.name}' is one of cells with cells, whose scores are too many: "
                    "contrast the cells of one view with another as a whole"
                )
            if pair.target in cells and not getattr(self.negatives, "cells", False):
                raise ValueError(
                    f"'{pair.target}' is cells, but {type(self.negatives).__name__} holds one vector for each "
                    "sample: take Patches as negatives, or that part out of the graph"
                )


def _warn_of_gaps(present: Present) -> None:
    for view, have in present.items():
        if have.device.type == "cpu" and not have.any():
            warnings.warn(
                f"view '{view}' is missing for all {len(have)} samples of a batch: its pairs are left out of "
                "that step; a larger batch makes it rarer",
                stacklevel=4,
            )
