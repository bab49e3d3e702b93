"""A queue of the most recent embeddings of each view, as MoCo keeps it."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coview.types import Candidates, Embeddings, Present, view_of


class Queue(nn.Module):
    """Candidates: the match is the current embedding, without gradient; negatives are the queue's other samples."""

    steady = True

    def __init__(self, views: Sequence[str], size: int, dim: int) -> None:
        super().__init__()
        self.views, self.size = tuple(views), size
        for view in self.views:
            self.register_buffer(f"rows_{view}", torch.zeros(size, dim))
            self.register_buffer(
                f"index_{view}", torch.full((size,), -1)
            )  # whose row it is; -1: not filled yet
            self.register_buffer(f"head_{view}", torch.tensor(0))  # where the next row goes

    def candidates(self, target: str, embedding: Float[Tensor, "B D"], index: Int[Tensor, "B"]) -> Candidates:
        rows, owner = self._of("rows", target), self._of("index", target)
        own = torch.eye(len(index), dtype=torch.bool, device=index.device)
        others = (owner[None, :] != index[:, None]) & (owner >= 0)
        keys = torch.cat([embedding.detach().to(rows.dtype), rows])
        return Candidates(keys, torch.arange(len(index), device=index.device), torch.cat([own, others], 1))

    @torch.no_grad()
    def update(self, embeddings: Embeddings, index: Int[Tensor, "B"], present: Present | None = None) -> None:
        """The batch enters, the oldest leave."""
        for view in self.views:
            if view not in embeddings:
                continue
            rows, owner, head = self._of("rows", view), self._of("index", view), self._of("head", view)
            have = None if present is None else present.get(view_of(view))
            new, whose = (embeddings[view], index) if have is None else (embeddings[view][have], index[have])
            new, whose = new[-self.size :], whose[-self.size :]
            places = (head + torch.arange(len(whose), device=head.device)) % self.size
            rows[places], owner[places] = new.to(rows.dtype), whose
            head.copy_((head + len(whose)) % self.size)

    def _of(self, kind: str, view: str) -> Tensor:
        if view not in self.views:
            raise ValueError(f"the queue has no view '{view}': it was made for {', '.join(self.views)}")
        return self.get_buffer(f"{kind}_{view}")
