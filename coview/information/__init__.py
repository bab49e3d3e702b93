"""How much do the views share: trained critics, bounds and closed forms (section 4.4)."""

from coview.information.bounds import (
    INFONCE,
    MINE,
    NWJ,
    Bound,
    Choices,
    choices_of,
    donsker_varadhan,
    infonce,
    infonce_bound,
    infonce_over_all,
    interpolated,
    interpolation,
    nwj,
)
from coview.information.critic import concatenated, separable
from coview.information.estimate import Estimate, estimate, mine
from coview.information.gaussian import (
    covariance_information,
    gaussian_correlation,
    gaussian_information,
    gaussian_pairs,
)
from coview.information.pairs import Pairs, TensorPairs, ViewPairs, view_pairs
from coview.information.train import Schedule

__all__ = [
    "INFONCE",
    "MINE",
    "NWJ",
    "Bound",
    "Choices",
    "Estimate",
    "Pairs",
    "Schedule",
    "TensorPairs",
    "ViewPairs",
    "choices_of",
    "concatenated",
    "covariance_information",
    "donsker_varadhan",
    "estimate",
    "gaussian_correlation",
    "gaussian_information",
    "gaussian_pairs",
    "infonce",
    "infonce_bound",
    "infonce_over_all",
    "interpolated",
    "interpolation",
    "mine",
    "nwj",
    "separable",
    "view_pairs",
]
