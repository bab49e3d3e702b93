"""The softmax over every candidate, loss and gradient in one sweep, never holding the scores of all.

For keys that need no gradient, d loss / d query = softmax(query keys^T) keys - keys[match]: an attention whose
values are its keys. So one attention call that also gives its logsumexp gives the loss and the exact gradient.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from coview.contrast.exact.attention import backends_for
from coview.contrast.exact.sharded import sharded_softmax
from coview.contrast.exact.sweep import sweep

__all__ = ["backends_for", "exact_softmax", "sharded_softmax"]


def exact_softmax(
    query: Float[Tensor, "B D"],
    keys: Float[Tensor, "K D"],
    match: Int[Tensor, "B"],
    valid: Bool[Tensor, "K"] | None = None,
    *,
    backend: str | None = None,
    chunk: int | None = None,
) -> Float[Tensor, "B"]:
    """-log softmax of the match over all valid keys, for keys that need no gradient.

    The backend is the fastest of `backends_for(keys)` unless named. "chunked" computes in float32 or wider, `chunk`
    keys at a time; the others compute in the precision of the keys.
    """
    wide = query if query.dtype == torch.float64 else query.float()
    if not len(query):  # of several processes, one may have no anchors
        return wide.sum(1)
    if wide.dtype == torch.float64 or chunk:
        backend = "chunked"
    return _ExactSoftmax.apply(wide, keys.detach(), match, valid, backend, chunk)  # pyright: ignore[reportReturnType]


class _ExactSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, keys, match, valid, backend, chunk):
        work = _as_one_operator if torch.compiler.is_compiling() else _loss_and_slope
        loss, slope = work(query, keys, match, valid, backend, chunk)
        ctx.save_for_backward(slope)
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx, *grads):  # pyright: ignore[reportIncompatibleMethodOverride]
        (slope,) = ctx.saved_tensors
        return grads[0][:, None] * slope, None, None, None, None, None


def _loss_and_slope(
    query: Tensor,
    keys: Tensor,
    match: Tensor,
    valid: Tensor | None,
    backend: str | None,
    chunk: int | None,
) -> tuple[Tensor, Tensor]:
    """The loss of each anchor, and its derivative by the query."""
    with torch.autocast(query.device.type, enabled=False):
        chosen = keys[match].to(query.dtype)
        score = (query * chosen).sum(1)
        log_total, expected = sweep(query, keys, valid, score, backend=backend, chunk=chunk)
        return log_total - score, expected - chosen


_as_one_operator = torch.library.custom_op("coview::exact_softmax", _loss_and_slope, mutates_args=())


@_as_one_operator.register_fake
def _like(query, keys, match, valid, backend, chunk):
    return query.new_empty(len(query)), torch.empty_like(query)
