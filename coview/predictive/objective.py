"""For every directed pair, a decoder predicts the target view from the anchor's embedding (section 3.1)."""

from collections.abc import Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from coview.contrast.graph import Pair, PairGraph
from coview.contrast.shares import mean, shares_of_anchors
from coview.types import Embeddings, Present, Views, view_of


class Prediction(nn.Module):
    """One weighted loss term per directed pair, in the place of contrast.

    Decoders are by pair, {"L->ab": ...}, from the anchor's embedding [B D] to a map [B O h w]; losses are by target
    view, {"ab": ...}, from that map and the view shrunk to its size to one number a sample.
    """

    hindrance: str | None = None  # nothing in a step looks at the data, so it can be recorded as a CUDA graph

    def __init__(
        self, graph: PairGraph, decoders: Mapping[str, nn.Module], losses: Mapping[str, nn.Module]
    ) -> None:
        super().__init__()
        self.graph, self.pairs = graph, tuple(graph.directed())
        self.decoders, self.losses = nn.ModuleDict(dict(decoders)), nn.ModuleDict(dict(losses))
        self.ceilings: dict[str, Tensor | float] = {}
        for pair in self.pairs:
            if pair.name not in self.decoders or view_of(pair.target) not in self.losses:
                raise ValueError(
                    f"prediction needs a decoder for '{pair.name}' and a loss for '{view_of(pair.target)}', got "
                    f"decoders {', '.join(self.decoders)} and losses {', '.join(self.losses)}"
                )

    @property
    def stateful(self) -> nn.ModuleDict:
        """What may hold buffers of which each process has seen a part."""
        return self.decoders

    def forward(
        self,
        embeddings: Embeddings,
        index: Tensor,
        present: Present | None = None,
        *,
        views: Views,
        keys: Embeddings | None = None,
    ) -> dict[str, Tensor]:
        if keys is not None:
            raise ValueError("a prediction has no keys: leave the recipe's `slow` None and its `crops` 1")
        terms: dict[str, Tensor] = {}
        shares = shares_of_anchors(self.pairs, index, present or {})
        for pair in (pair for pair in self.pairs if pair.name in shares):
            anchor, view = embeddings[pair.anchor], views[view_of(pair.target)]
            rows = _both(pair, present or {})
            anchor, view = (anchor, view) if rows is None else (anchor[rows], view[rows])
            said = self.decoders[pair.name](anchor)
            loss = self.losses[view_of(pair.target)](said, shrunk(view, *said.shape[-2:]))
            terms[pair.name] = pair.weight * mean(loss) * shares[pair.name]
        if not terms:
            raise ValueError(f"no sample of this batch has both views of any pair of {self.graph}")
        return terms

    def check(self, embeddings: Embeddings) -> None:
        """Refuse embeddings that no decoder takes."""
        for pair in self.pairs:
            if embeddings[pair.anchor].ndim != 2:
                raise ValueError(
                    f"'{pair.anchor}' is cells, but a decoder takes one vector: predict from a whole view"
                )

    def bounds(
        self, terms: Mapping[str, Tensor | float], ceilings: Mapping[str, Tensor | float] | None = None
    ) -> dict[str, Tensor | float]:
        """A prediction proves nothing about information."""
        return {}

    def remember(self, embeddings: Embeddings, index: Tensor, present: Present | None = None) -> None:
        """There is nothing to remember."""


def shrunk(view: Float[Tensor, "B *C"], height: int, width: int) -> Float[Tensor, "B O h w"]:
    """The mean of a view over each cell of a grid; frames of a clip are channels, numbers of a table too."""
    maps = view[..., None, None] if view.ndim == 2 else view.flatten(1, -3)
    return functional.adaptive_avg_pool2d(maps, (height, width))


def _both(pair: Pair, present: Present) -> Int[Tensor, "A"] | None:
    """The samples that have both views of a pair; None: all."""
    has = [present[view] for view in {view_of(pair.anchor), view_of(pair.target)} if view in present]
    return torch.stack(has).all(0).nonzero().squeeze(1) if has else None
