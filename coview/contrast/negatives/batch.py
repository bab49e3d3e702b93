"""The other samples of the batch as negatives; nothing is remembered."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coview import processes
from coview.types import Candidates, Embeddings, Present


class InBatch(nn.Module):
    """Candidates: the current embeddings of the target view, of all processes, with their gradient."""

    steady = settled = True

    def candidates(self, target: str, embedding: Float[Tensor, "B D"], index: Int[Tensor, "B"]) -> Candidates:
        keys, first = processes.gather_keys(embedding)
        return Candidates(keys, first + torch.arange(len(index), device=index.device))

    def update(self, embeddings: Embeddings, index: Int[Tensor, "B"], present: Present | None = None) -> None:
        """There is nothing to remember."""
