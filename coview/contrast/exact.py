"""The softmax over every candidate, loss and gradient in one sweep, never holding the scores of all."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

CHUNK = 8192  # keys a product: 256 anchors give 8 MiB of scores, which stays near the cores


def exact_softmax(
    query: Float[Tensor, "B D"],
    keys: Float[Tensor, "K D"],
    match: Int[Tensor, "B"],
    valid: Bool[Tensor, "K"] | None = None,
    *,
    chunk: int = CHUNK,
) -> Float[Tensor, "B"]:
    """-log softmax of the match over all valid keys, for keys that need no gradient.

    d loss / d query = softmax(query keys^T) keys - keys[match], so the sweep that sums the exponentials
    also sums the keys that they weigh.
    """
    wide = query if query.dtype == torch.float64 else query.float()
    return _ExactSoftmax.apply(wide, keys.detach(), match, valid, chunk)  # pyright: ignore[reportReturnType]


class _ExactSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, keys, match, valid, chunk):
        chosen = keys[match].to(query.dtype)
        score = (query * chosen).sum(1)
        log_total, expected = _sweep(query, keys, valid, score, chunk)
        ctx.save_for_backward(expected - chosen)
        return log_total - score

    @staticmethod
    @once_differentiable
    def backward(ctx, *grads):  # pyright: ignore[reportIncompatibleMethodOverride]
        (slope,) = ctx.saved_tensors
        return grads[0][:, None] * slope, None, None, None, None


def _sweep(query, keys, valid, start, chunk):
    """logsumexp of the scores, and the keys averaged by their softmax, with a running maximum."""
    highest = start  # the score of the match: finite, so an empty chunk cannot make 0/0
    total, weighted = torch.zeros_like(start), torch.zeros_like(query)
    for first in range(0, len(keys), chunk):
        part = keys[first : first + chunk].to(query.dtype)
        scores = query @ part.T
        if valid is not None:
            scores = scores.masked_fill(~valid[first : first + chunk], -torch.inf)
        higher = torch.maximum(highest, scores.amax(1))
        shrink = (highest - higher).exp()
        scores = scores.sub_(higher[:, None]).exp_()
        total = total * shrink + scores.sum(1)
        weighted = weighted * shrink[:, None] + scores @ part
        highest = higher
    return total.log() + highest, weighted / total[:, None]
