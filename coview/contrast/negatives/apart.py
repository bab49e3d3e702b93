"""The batch as negatives, without what belongs to the anchor's own group: clips cut from one video (section 4.2)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coview.types import Candidates, Embeddings, Present


class Apart(nn.Module):
    """Candidates: the current embeddings of the target view, of the anchor's own sample and of other groups alone."""

    steady = settled = True

    def __init__(self, group: Int[Tensor, "N"]) -> None:
        super().__init__()
        self.group: Tensor
        self.register_buffer("group", group.clone(), persistent=False)  # it is the dataset's

    def candidates(self, target: str, embedding: Float[Tensor, "B D"], index: Int[Tensor, "B"]) -> Candidates:
        group, own = self.group[index], torch.arange(len(index), device=index.device)
        apart = (group[:, None] != group) | (own[:, None] == own)
        return Candidates(embedding, own, apart)

    def update(self, embeddings: Embeddings, index: Int[Tensor, "B"], present: Present | None = None) -> None:
        """There is nothing to remember."""
