"""Softmax sums over parts of the keys, put together, and parts taken off again."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def merge(
    logs: Float[Tensor, "S B"], expected: Float[Tensor, "S B D"]
) -> tuple[Float[Tensor, "B"], Float[Tensor, "B D"]]:
    """logsumexp and average key of all parts from those of each."""
    log_share = logs.log_softmax(0)  # logsumexp would launch three times as many kernels
    share = log_share.exp()
    return logs.amax(0) - log_share.amax(0), torch.einsum("sb,sbd->bd", share, expected.to(share.dtype))


def take_off(
    log_total: Float[Tensor, "B"], expected: Float[Tensor, "B D"], zeros: Int[Tensor, ""]
) -> tuple[Float[Tensor, "B"], Float[Tensor, "B D"], Float[Tensor, "B"]]:
    """The same without so many keys of zeros, and the share of the softmax that is left."""
    share = -torch.expm1((zeros.to(log_total.dtype).log() - log_total).clamp(max=-1e-6))
    return log_total + share.log(), expected / share[:, None], share
