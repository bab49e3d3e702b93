"""A memory bank in parts: each process holds the rows of its samples, and memory per process falls as 1/P."""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coview import processes
from coview.contrast.negatives.rows import OUT, averaged, check_index, first_state, number_type, reach, unit
from coview.types import Candidates, Embeddings, Present, Shard, view_of

BLOCK = 65_536  # rows whose random start is drawn together, so that it depends on the sample alone


class ShardedBank(nn.Module):
    """As `Bank` with all of its rows as candidates, but each process holds one stretch of them.

    Queries travel to the keys and sums come back; match rows are fetched from their owners. Loss and gradient are
    those of a `Bank`. It goes with the softmax. What it holds is in no `state_dict`: every process saves its part.
    """

    def __init__(
        self,
        views: Sequence[str],
        samples: int,
        dim: int,
        momentum: float = 0.5,
        *,
        start: str = "random",
        precision: str = "auto",
        present: Present | None = None,
    ) -> None:
        super().__init__()
        if samples < processes.count():
            raise ValueError(
                f"{samples} samples cannot be divided among {processes.count()} processes: use Bank"
            )
        kind, state = number_type(precision), first_state(start)
        self.views, self.samples, self.momentum = tuple(views), samples, momentum
        self.first, self.last = stretch(samples, processes.rank(), processes.count())
        # Where samples may lack views, processes may have unequal numbers of anchors.
        self.uneven = any(not bool(have.all()) for have in (present or {}).values())
        luck = _luck()
        for number, view in enumerate(self.views):
            rows = torch.empty(self.held, dim, dtype=kind)
            _fill(rows, self.first, samples, luck + number)
            states = torch.full((self.held,), state, dtype=torch.uint8)
            if present is not None and view_of(view) in present:
                states[~present[view_of(view)][self.first : self.last].cpu()] = OUT
            rows.mul_((states != OUT)[:, None])
            self.register_buffer(f"rows_{view}", rows, persistent=False)
            self.register_buffer(f"state_{view}", states, persistent=False)
        self._note_gaps(self.views)

    settled = True

    @property
    def held(self) -> int:
        """Rows of a view in this process."""
        return self.last - self.first

    @property
    def steady(self) -> bool:
        """Whether a step needs no look at what is there."""
        return not self._gaps and not self.uneven

    def rows(self, view: str) -> Float[Tensor, "N D"]:
        """The memory of a view as far as this process holds it; rows that are out are zero."""
        return self._of("rows", view)

    def there(self, view: str) -> Bool[Tensor, "N"]:
        """Which of these rows may be candidates."""
        return self._of("state", view) != OUT

    def candidates(self, target: str, embedding: Float[Tensor, "B D"], index: Int[Tensor, "B"]) -> Candidates:
        check_index(index, self.samples)
        chosen, own = self._fetch(target, index)
        if target not in self._gaps:
            return Candidates(self.rows(target), index, shard=Shard(chosen, self.samples, uneven=self.uneven))
        there, kind = self.there(target), self.rows(target).dtype
        stand_ins = unit(embedding).to(kind)  # on a first visit the current embedding stands in for the row
        chosen = torch.where(own[:, None], chosen, stand_ins.float())
        total = processes.total(there.sum() + (~own).sum())
        shard = Shard(chosen, total, stand_ins, ~own, uneven=self.uneven)
        return Candidates(self.rows(target), index, there, shard=shard)

    @torch.no_grad()
    def update(self, embeddings: Embeddings, index: Int[Tensor, "B"], present: Present | None = None) -> None:
        """Average the rows of these samples, given of all processes, with their embeddings: each keeps its own."""
        check_index(index, self.samples)
        place, mine = self._places(index)
        # What is not mine repeats the first that is, so that no row is written twice with different values.
        source = torch.where(mine, torch.arange(len(mine), device=mine.device), mine.to(torch.uint8).argmax())
        for view in self.views:
            if view not in embeddings:
                continue
            rows, state = self.rows(view), self._of("state", view)
            have = None if present is None else present.get(view_of(view))
            new, after = averaged(rows[place], state[place], embeddings[view], have, momentum=self.momentum)
            new, after = torch.where(mine[:, None], new, rows[place]), torch.where(mine, after, state[place])
            rows[place[source]], state[place[source]] = new[source], after[source]
            if have is not None or view in self._gaps:
                self._note_gaps([view])

    def part(self) -> dict[str, Tensor]:
        """What this process holds, by name, to be saved."""
        return dict(self.named_buffers(recurse=False))

    def load_parts(self, parts: Iterable[tuple[int, dict[str, Tensor]]]) -> None:
        """Take over what processes saved, each with the first row that it held, as far as it is held here now."""
        for first, part in parts:
            for name, mine in self.named_buffers(recurse=False):
                begin, end = max(first, self.first), min(first + len(part[name]), self.last)
                if begin < end:
                    mine[begin - self.first : end - self.first] = part[name][begin - first : end - first]
        self._note_gaps(self.views)

    def _fetch(self, view: str, index: Tensor) -> tuple[Float[Tensor, "B D"], Bool[Tensor, "B"]]:
        """The rows of samples from whoever holds them, and whether they are there."""
        everyone, first = processes.gather_rows(index, uneven=self.uneven)
        place, mine = self._places(everyone)
        there = (self._of("state", view)[place] != OUT) & mine
        found = torch.cat([self.rows(view)[place].float() * mine[:, None], there[:, None].float()], 1)
        found = processes.share_out(found, first, len(index), uneven=self.uneven)
        return found[:, :-1], found[:, -1] > 0

    def _places(self, index: Tensor) -> tuple[Int[Tensor, "B"], Bool[Tensor, "B"]]:
        """Where samples are among the rows of this process, and whether they are."""
        place = index - self.first
        mine = (place >= 0) & (place < self.held)
        return place.clamp(0, self.held - 1), mine

    def _note_gaps(self, views: Sequence[str]) -> None:
        """Keep in mind which views have rows that are out, on whatever process."""
        gaps: set[str] = getattr(self, "_gaps", set())
        for view in views:
            whole = self.there(view).all().to(torch.uint8)
            gaps = gaps - {view} if bool(processes.least(whole)) else gaps | {view}
        self._gaps = gaps

    def _of(self, kind: str, view: str) -> Tensor:
        if view not in self.views:
            raise ValueError(f"the bank has no view '{view}': it was made for {', '.join(self.views)}")
        return self.get_buffer(f"{kind}_{view}")


def stretch(samples: int, process: int, count: int) -> tuple[int, int]:
    """The first sample of a process, and the first that is not its own: stretches differ by one at the most."""
    each, more = divmod(samples, count)
    first = process * each + min(process, more)
    return first, first + each + (process < more)


def _fill(rows: Float[Tensor, "N D"], first: int, samples: int, luck: int) -> None:
    """Random rows, the same for a sample whoever holds it."""
    last, dim = first + len(rows), rows.shape[1]
    for begin in range(first - first % BLOCK, last, BLOCK):
        generator = torch.Generator().manual_seed(luck + begin * 1_009)
        drawn = torch.empty(min(BLOCK, samples - begin), dim)
        drawn.uniform_(-reach(dim), reach(dim), generator=generator)
        mine = slice(max(begin, first), min(begin + BLOCK, last))
        rows[mine.start - first : mine.stop - first] = drawn[mine.start - begin : mine.stop - begin]


def _luck() -> int:
    """A random number, the same on every process."""
    drawn = torch.randint(2**40, (1,))
    processes.as_first([drawn])
    return int(drawn)
