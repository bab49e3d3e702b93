"""The paper's rival: one view is predicted from another, with the loss in the space of views (section 3.1)."""

from coview.predictive.bins import ab_bins, even_bins
from coview.predictive.decoder import Decoder
from coview.predictive.losses import Distance, Quantised
from coview.predictive.objective import Prediction

__all__ = ["Decoder", "Distance", "Prediction", "Quantised", "ab_bins", "even_bins"]
