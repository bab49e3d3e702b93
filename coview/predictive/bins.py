"""The bins that Split-Brain sorts colours into (Zhang et al. 2017); views are scaled to [-1, 1]."""

import torch
from jaxtyping import Float
from torch import Tensor

from coview.views.colour import SPACES, rgb_to_lab


def even_bins(channels: int, bins: int) -> Float[Tensor, "Q C"]:
    """The centres of `bins` equal steps from -1 to 1, in every channel with every other."""
    steps = (torch.arange(bins) + 0.5) * (2 / bins) - 1
    return torch.cartesian_prod(*[steps] * channels).reshape(-1, channels)


def ab_bins(step: float = 10.0) -> Float[Tensor, "Q 2"]:
    """The centres of a grid over ab, of those bins that some sRGB colour is in, scaled as the view `chroma`.

    They are 261 at a step of 10, of which Zhang et al. keep 313.
    """
    levels = torch.linspace(0, 255, 65).round().to(torch.uint8)
    colours = torch.cartesian_prod(levels, levels, levels).T.reshape(1, 3, -1, 1)
    ab = rgb_to_lab(colours)[0, 1:, :, 0].T
    centres = (ab / step).round().unique(dim=0) * step
    lab = SPACES["Lab"]
    return (centres - torch.tensor(lab.middle[1:])) / torch.tensor(lab.reach[1:])
