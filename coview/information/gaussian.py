"""Closed forms to test estimates against."""

import math

import torch
from jaxtyping import Float
from torch import Tensor


def gaussian_information(correlation: float, dimensions: int = 1) -> float:
    """Mutual information in nats of two Gaussian vectors whose components are correlated one to one."""
    return -0.5 * dimensions * math.log1p(-(correlation**2))


def gaussian_correlation(nats: float, dimensions: int = 1) -> float:
    """The correlation of each component with its own that gives so many nats: the inverse of the above."""
    if nats < 0 or dimensions < 1:
        raise ValueError(f"wanted 0 nats or more in 1 dimension or more, got {nats} in {dimensions}")
    return math.sqrt(-math.expm1(-2 * nats / dimensions))


def covariance_information(covariance: Float[Tensor, "D D"], first: int) -> float:
    """Mutual information in nats of the first components of a Gaussian vector with all others."""
    if not 0 < first < len(covariance):
        raise ValueError(f"{first} of {len(covariance)} components leave one side empty")
    wide = covariance.double()
    one, other = torch.linalg.slogdet(wide[:first, :first]), torch.linalg.slogdet(wide[first:, first:])
    both = torch.linalg.slogdet(wide)
    if min(float(part.sign) for part in (one, other, both)) <= 0:
        raise ValueError("a covariance without an inverse: some component is fixed by the others")
    return 0.5 * float(one.logabsdet + other.logabsdet - both.logabsdet)


def gaussian_pairs(
    nats: float, dimensions: int, samples: int, *, generator: torch.Generator | None = None
) -> tuple[Float[Tensor, "N D"], Float[Tensor, "N D"]]:
    """Pairs of standard Gaussian vectors that share so many nats, the same in each component."""
    correlation = gaussian_correlation(nats, dimensions)
    first, noise = torch.randn(2, samples, dimensions, generator=generator, dtype=torch.float64)
    second = correlation * first + math.sqrt(1 - correlation**2) * noise
    return first.float(), second.float()
