"""Bounds on mutual information that a loss gives for nothing."""

from torch import Tensor


def infonce_bound(loss: Tensor | float, log_negatives: Tensor | float) -> Tensor | float:
    """I(V1; V2) >= log k - loss, for k negatives (equation 6); it cannot exceed log k."""
    return log_negatives - loss
