"""Closed forms to test estimates against."""

import math


def gaussian_information(correlation: float, dimensions: int = 1) -> float:
    """Mutual information in nats of two Gaussian vectors whose components are correlated one to one."""
    return -0.5 * dimensions * math.log1p(-(correlation**2))
