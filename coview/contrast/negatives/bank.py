"""The memory bank: one row per sample and view, momentum-averaged and written after scoring (section 3.4)."""

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coview import processes
from coview.contrast.negatives.rows import OUT, averaged, check_index, first_state, number_type, reach, unit
from coview.types import Candidates, Embeddings, Present, view_of


class Bank(nn.Module):
    """Candidates from memory: every row (`draw="all"`) or the match and `m` rows drawn at random.

    The match is the memory row of the target view, as in the paper, not its current embedding. `shared` draws
    once for the batch; without it each anchor draws on its own, with replacement, as the paper does, whose
    released code also lets the match be drawn (`exclude_self=False`). Rows start random as in the paper, or
    `start="empty"`: out of the game until written, the current embedding standing in for the match.
    `present` names samples known to lack a view; others are learned from `update`. Rows are kept in `precision`:
    float32, float16 or bfloat16; "auto" is float16 where there is CUDA, whose attention kernels sweep over nothing
    wider. Of unit rows float16 keeps three bits more than bfloat16, at the same speed.
    """

    def __init__(
        self,
        views: Sequence[str],
        samples: int,
        dim: int,
        draw: Literal["all"] | int = "all",
        shared: bool = True,
        exclude_self: bool = True,
        momentum: float = 0.5,
        *,
        start: str = "random",
        precision: str = "auto",
        present: Present | None = None,
    ) -> None:
        super().__init__()
        if draw != "all" and not (isinstance(draw, int) and draw >= 1):
            raise ValueError(f"draw must be 'all' or a number of negatives, got {draw!r}")
        kind, first = number_type(precision), first_state(start)
        self.samples, self.draw, self.shared = samples, draw, shared
        self.exclude_self, self.momentum = exclude_self, momentum
        self.views = tuple(views)
        for view in self.views:
            there = torch.ones(samples, dtype=torch.bool) if present is None else present.get(view_of(view))
            state = torch.full((samples,), first, dtype=torch.uint8)
            if there is not None:
                state[~there.cpu()] = OUT
            rows = torch.empty(samples, dim).uniform_(-reach(dim), reach(dim)) * (state != OUT)[:, None]
            self.register_buffer(f"rows_{view}", rows.to(kind))
            self.register_buffer(f"state_{view}", state)
        self._note_gaps()
        self.register_load_state_dict_post_hook(lambda bank, _: bank._note_gaps())

    @property
    def settled(self) -> bool:
        """Whether it offers the same candidates for a target however often it is asked."""
        return self.draw == "all"

    @property
    def steady(self) -> bool:
        """Whether a step needs no look at what is there: then it can be captured as a CUDA graph."""
        return not self._gaps

    def rows(self, view: str) -> Float[Tensor, "N D"]:
        """The memory of a view; rows that are out are zero."""
        return self._of("rows", view)

    def there(self, view: str) -> Bool[Tensor, "N"]:
        """Which rows may be candidates."""
        return self._of("state", view) != OUT

    def candidates(self, target: str, embedding: Float[Tensor, "B D"], index: Int[Tensor, "B"]) -> Candidates:
        check_index(index, self.samples)
        rows = self.rows(target)
        there = self.there(target) if target in self._gaps else None
        if there is not None:  # on a first visit the current embedding stands in for the row
            rows, there = _with_stand_ins(rows, there, unit(embedding), index)
        if self.draw == "all":
            return Candidates(rows, index, there)
        pool = None if there is None else there.nonzero().squeeze(1)
        draw = self._draw_shared if self.shared else self._draw_each
        return draw(rows, index, pool)

    @torch.no_grad()
    def update(self, embeddings: Embeddings, index: Int[Tensor, "B"], present: Present | None = None) -> None:
        """Average the rows of these samples with their embeddings; what they lack stays out."""
        check_index(index, self.samples)
        for view in self.views:
            if view not in embeddings:
                continue
            rows, state = self.rows(view), self._of("state", view)
            have = None if present is None else present.get(view_of(view))
            rows[index], state[index] = averaged(
                rows[index], state[index], embeddings[view], have, momentum=self.momentum
            )
            if have is not None or view in self._gaps:
                self._note_gaps([view])

    def _draw_shared(self, rows: Tensor, index: Tensor, pool: Tensor | None) -> Candidates:
        """The batch's own rows, then m + 1 others of which each anchor leaves out itself, or else the last."""
        total = len(rows) if pool is None else len(pool)
        drawn = _some(total, int(self.draw) + 1, rows.device)
        drawn = drawn if pool is None else pool[drawn]
        own = torch.eye(len(index), dtype=torch.bool, device=rows.device)
        left_out = drawn[None, :] == index[:, None]
        if not self.exclude_self:
            left_out = torch.zeros_like(left_out)
        if len(drawn) > int(self.draw):
            left_out[:, -1] |= ~left_out.any(1)
        keys = torch.cat([rows[index], rows[drawn]])
        return Candidates(keys, _count(index), torch.cat([own, ~left_out], 1))

    def _draw_each(self, rows: Tensor, index: Tensor, pool: Tensor | None) -> Candidates:
        """Every anchor's own row, then m draws with replacement from all rows, or from all but its own."""
        place = index if pool is None else torch.searchsorted(pool, index)
        total = len(rows) if pool is None else len(pool)
        others = total - 1 if self.exclude_self else total
        if others < 1:
            raise ValueError(
                "the bank holds no negatives: with exclude_self it needs two samples that have the view"
            )
        drawn = torch.randint(others, (len(index), int(self.draw)), device=rows.device)
        if self.exclude_self:
            drawn = drawn + (drawn >= place[:, None])  # step over one's own place: uniform over the others
        drawn = drawn if pool is None else pool[drawn]
        columns = torch.cat([index[:, None], drawn], 1)
        return Candidates(rows[columns], torch.zeros_like(index))

    def _note_gaps(self, views: Sequence[str] | None = None) -> None:
        """Keep in mind which views have rows that are out, so that whole banks need no mask."""
        gaps = getattr(self, "_gaps", set())
        for view in self.views if views is None else views:
            gaps = gaps - {view} if bool(self.there(view).all()) else gaps | {view}
        self._gaps = gaps

    def _of(self, kind: str, view: str) -> Tensor:
        if view not in self.views:
            raise ValueError(f"the bank has no view '{view}': it was made for {', '.join(self.views)}")
        return self.get_buffer(f"{kind}_{view}")


def _with_stand_ins(
    rows: Tensor, there: Tensor, keys: Tensor, index: Tensor
) -> tuple[Float[Tensor, "N D"], Bool[Tensor, "N"]]:
    """The rows with these keys, of all processes, where there was none."""
    if processes.count() > 1:
        (keys, _), (index, _) = processes.gather_rows(keys), processes.gather_rows(index)
    own = there[index]
    if own.all():
        return rows, there
    kept = torch.where(own[:, None], rows[index], keys.to(rows.dtype))
    return rows.index_copy(0, index, kept), there.index_fill(0, index, True)


def _some(total: int, count: int, device: torch.device) -> Int[Tensor, "K"]:
    """So many different numbers below `total`, or all of them; torch.randperm cannot be captured as a CUDA graph."""
    return torch.rand(total, device=device).topk(min(count, total), sorted=False).indices


def _count(index: Tensor) -> Tensor:
    return torch.arange(len(index), device=index.device)
