"""Cells of early maps against whole views, within the batch (appendix B.2, "Contrasting sub-patches")."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coview import processes
from coview.types import Candidates, Embeddings, Present


class Patches(nn.Module):
    """Candidates: every cell of the batch where the target is cells, every whole view where it is whole views.

    The cells of an anchor's own image are its matches. To each other they are no candidates, unless `same_image`
    makes them wrong choices too.
    """

    cells = True
    steady = settled = True

    def __init__(self, same_image: bool = False) -> None:
        super().__init__()
        self.same_image = same_image

    def candidates(
        self, target: str, embedding: Float[Tensor, "B *P D"], index: Int[Tensor, "B"]
    ) -> Candidates:
        keys, first = processes.gather_keys(embedding)
        samples = first + torch.arange(len(index), device=index.device)
        if embedding.ndim == 2:
            return Candidates(keys, samples)
        cells = torch.arange(embedding.shape[1], device=index.device)
        columns = samples[:, None] * len(cells) + cells
        return Candidates(keys.flatten(0, 1), columns, rivals=self.same_image)

    def update(self, embeddings: Embeddings, index: Int[Tensor, "B"], present: Present | None = None) -> None:
        """There is nothing to remember."""
