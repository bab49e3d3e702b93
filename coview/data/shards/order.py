"""The order of an epoch: random, yet such that a few shards are enough at a time, whoever reads and from where on."""

from collections.abc import Iterator

import torch
from jaxtyping import Int
from torch import Tensor

from coview.data.shards.index import Index


def shuffled_batches(
    index: Index, batch_size: int, *, seed: int, epoch: int, streams: int
) -> Iterator[Int[Tensor, "B"]]:
    """Every sample once: shards in random order cut into streams of equal length, samples taken from each by turns.

    Where the number of processes divides that of streams, a process that is dealt every P-th sample meets the shards
    of its own streams alone.
    """
    full = max(len(index) // batch_size, 1) * batch_size
    held, left = torch.empty(0, dtype=torch.int64), min(full, len(index))
    for numbers in _by_turns(index, seed=seed, epoch=epoch, streams=streams):
        held = torch.cat([held, numbers[:left]])
        left -= min(left, len(numbers))
        *whole, held = held.split(batch_size) if len(held) else [held]
        yield from whole
        if len(held) == batch_size:
            yield held
            held = held[:0]
        if not left:
            break
    if len(held):
        yield held


def _by_turns(index: Index, *, seed: int, epoch: int, streams: int) -> Iterator[Tensor]:
    """One sample of each stream after the other; what is left of longer streams at the end."""
    luck = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    shards = torch.randperm(len(index.counts), generator=luck)
    ends = [len(index) * stream // streams for stream in range(streams + 1)]
    parts = [
        _stream(index, shards, ends[n], ends[n + 1], seed=(seed * 1_000_003 + epoch) * streams + n)
        for n in range(streams)
    ]
    held = [next(part, None) for part in parts]
    while all(one is not None for one in held):
        rows = [one for one in held if one is not None]
        count = min(map(len, rows))
        yield torch.stack([one[:count] for one in rows], 1).flatten()
        held = [
            one[count:] if len(one) > count else next(part, None)
            for one, part in zip(rows, parts, strict=True)
        ]
    for one, part in zip(held, parts, strict=True):
        yield from [] if one is None else [one]
        yield from part


def _stream(index: Index, shards: Tensor, first: int, last: int, *, seed: int) -> Iterator[Tensor]:
    """The samples from place `first` to `last` in a row of shards, shuffled within each shard."""
    luck = torch.Generator().manual_seed(seed)
    counts, starts = index.counts[shards], index.starts[shards]
    ends = counts.cumsum(0)
    for place in range(int(torch.searchsorted(ends, first, right=True)), len(shards)):
        before = int(ends[place] - counts[place])
        if before >= last:
            return
        inside = max(first - before, 0), min(last - before, int(counts[place]))
        numbers = starts[place] + torch.arange(*inside)
        yield numbers[torch.randperm(len(numbers), generator=luck)]
