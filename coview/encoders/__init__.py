"""From a view to its embedding, with features by layer for the probes."""

from coview.encoders.convolutional import SmallConv
from coview.encoders.each import Encoders
from coview.encoders.mlp import MLP

__all__ = ["MLP", "Encoders", "SmallConv"]
