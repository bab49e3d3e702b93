"""The sweep as products of some thousand keys at a time: any device, any precision."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

CHUNK = 4096  # keys a product: 256 anchors give 4 MiB of scores, which stays near the cores
CHUNK_CUDA = 65536  # there the launches count


def sweep_chunks(
    query: Float[Tensor, "B D"],
    keys: Float[Tensor, "K D"],
    valid: Bool[Tensor, "K"] | None,
    start: Float[Tensor, "B"],
    *,
    chunk: int | None = None,
) -> tuple[Float[Tensor, "B"], Float[Tensor, "B D"]]:
    """logsumexp of the scores, and the keys averaged by their softmax, with a running maximum.

    `start` is where the maximum starts, the score of the match: finite, so an empty chunk cannot make 0/0.
    """
    chunk = chunk or (CHUNK_CUDA if query.is_cuda else CHUNK)
    highest, total, weighted = start, torch.zeros_like(start), torch.zeros_like(query)
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
