"""The softmax over keys of which every process holds a part: only queries and sums travel, never keys.

Each process sweeps its own keys for the queries of all; the sums are merged by their logsumexps (section 3.4).
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from coview import processes
from coview.contrast.exact.chunked import sweep_chunks
from coview.contrast.exact.merge import merge
from coview.contrast.exact.sweep import sweep
from coview.types import Shard

LEAST = -1e30  # below every score: a part that holds nothing for a query must weigh nothing


def sharded_softmax(
    query: Float[Tensor, "B D"], keys: Float[Tensor, "K D"], valid: Bool[Tensor, "K"] | None, shard: Shard
) -> Float[Tensor, "B"]:
    """-log softmax of the match over the valid keys of all processes, for keys that need no gradient."""
    wide = query if query.dtype == torch.float64 else query.float()
    return _ShardedSoftmax.apply(wide, keys.detach(), valid, shard)  # pyright: ignore[reportReturnType]


class _ShardedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, keys, valid, shard):
        with torch.autocast(query.device.type, enabled=False):
            chosen = shard.chosen.to(query.dtype)
            log_total, expected = _merged(query, keys, valid, shard)
            ctx.save_for_backward(expected - chosen)
            return log_total - (query * chosen).sum(1)

    @staticmethod
    @once_differentiable
    def backward(ctx, *grads):  # pyright: ignore[reportIncompatibleMethodOverride]
        (slope,) = ctx.saved_tensors
        return grads[0][:, None] * slope, None, None, None


def _merged(
    query: Tensor, keys: Tensor, valid: Tensor | None, shard: Shard
) -> tuple[Float[Tensor, "B"], Float[Tensor, "B D"]]:
    """logsumexp and average key of this process's queries, over the keys of all processes."""
    everyone, first = processes.gather_rows(query, uneven=shard.uneven)
    mine = slice(first, first + len(query))
    log_part, expected = _part(everyone, keys, valid, shard)
    highest = processes.greatest(log_part)
    weight = (log_part - highest).exp()[:, None]
    sums = torch.cat([weight, weight * expected], 1)
    sums = processes.share_out(sums, first, len(query), uneven=shard.uneven)
    return highest[mine] + sums[:, 0].log(), sums[:, 1:] / sums[:, :1]


def _part(query: Tensor, keys: Tensor, valid: Tensor | None, shard: Shard) -> tuple[Tensor, Tensor]:
    """The sums over the keys of this process, and over its samples that nobody holds yet."""
    start = torch.full_like(query[:, 0], LEAST)
    parts = [sweep(query, keys, valid, start)]
    if shard.stand_ins is not None and len(shard.stand_ins):
        parts.append(sweep_chunks(query, shard.stand_ins, shard.standing, start))
    logs, expected = (torch.stack(one) for one in zip(*parts, strict=True))
    logs, expected = logs.clamp(min=LEAST), expected.nan_to_num(0.0)  # of no keys the average is 0/0
    return merge(logs, expected) if len(parts) > 1 else (logs[0], expected[0])
