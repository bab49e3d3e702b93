"""One sweep over the keys, by the way that is named or is the fastest: two sums for each query."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from coview.contrast.exact.attention import attend, backends_for
from coview.contrast.exact.chunked import sweep_chunks
from coview.contrast.exact.merge import take_off

RARE = 1e-3  # of the softmax; where valid keys have less of it, taking off the others would lose their digits


def sweep(
    query: Float[Tensor, "B D"],
    keys: Float[Tensor, "K D"],
    valid: Bool[Tensor, "K"] | None,
    start: Float[Tensor, "B"],
    *,
    backend: str | None = None,
    chunk: int | None = None,
) -> tuple[Float[Tensor, "B"], Float[Tensor, "B D"]]:
    """logsumexp of the scores of all valid keys, and these keys averaged by their softmax."""
    backend = backend or backends_for(keys)[0]
    if backend == "chunked":
        return sweep_chunks(query, keys, valid, start, chunk=chunk)
    if valid is None:
        return attend(query, keys, backend)
    there = keys.where(valid[:, None], 0)  # a key of zeros adds exp(0), known and so taken off
    log_total, expected, share = take_off(*attend(query, there, backend), (~valid).sum())
    watching = not (query.is_cuda and torch.cuda.is_current_stream_capturing())
    if watching and bool((share < RARE).any()):
        return sweep_chunks(query, keys, valid, start)
    return log_total, expected
