"""A queue of the most recent keys of each view, as MoCo keeps it."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coview import processes
from coview.contrast.negatives.rows import number_type
from coview.types import Candidates, Embeddings, Present, view_of


class Queue(nn.Module):
    """Candidates: the current keys of the batch, without gradient, and the queue's rows of all other samples.

    The batch is that of all processes. The match is the current key; what the queue holds of the batch's own samples
    is older, and stands aside for all anchors alike, so that they share one set of keys. Rows are kept in
    `precision`, as those of a bank.
    """

    steady = settled = True

    def __init__(self, views: Sequence[str], size: int, dim: int, *, precision: str = "auto") -> None:
        super().__init__()
        if size < 1:
            raise ValueError(f"a queue holds 1 row or more, got size={size}")
        self.views, self.size = tuple(views), size
        for view in self.views:
            self.register_buffer(f"rows_{view}", torch.zeros(size, dim, dtype=number_type(precision)))
            self.register_buffer(
                f"index_{view}", torch.full((size,), -1)
            )  # whose row it is; -1: not filled yet
            self.register_buffer(f"head_{view}", torch.tensor(0))  # where the next row goes

    def candidates(self, target: str, embedding: Float[Tensor, "B D"], index: Int[Tensor, "B"]) -> Candidates:
        rows, owner = self._of("rows", target), self._of("index", target)
        current, first = processes.gather_rows(embedding.detach().to(rows.dtype))
        batch, _ = processes.gather_rows(index)
        others = (owner >= 0) & ~_among(owner, batch)
        valid = torch.cat([torch.ones_like(batch, dtype=torch.bool), others])
        match = first + torch.arange(len(index), device=index.device)
        return Candidates(torch.cat([current, rows]), match, valid)

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


def _among(owner: Int[Tensor, "K"], index: Int[Tensor, "B"]) -> Bool[Tensor, "K"]:
    """Which owners are in the batch, without a look at how many, and without a table of all pairs."""
    if not len(index):
        return torch.zeros_like(owner, dtype=torch.bool)
    known = index.sort().values
    place = torch.searchsorted(known, owner).clamp(max=len(known) - 1)
    return known[place] == owner
