"""A field brought to about [-1, 1] by the range that nearly all of its values lie in."""

from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor

from coview.types import Fields
from coview.views.field import field

Bound = float | tuple[float, ...]
"""One for all channels or columns of a field, or one for each."""


def scaled(
    fields: Fields, *, name: str, low: Bound, high: Bound, limit: float = 3.0
) -> Float[Tensor, "B ..."]:
    """Low becomes -1 and high 1; what lies farther out is held at `limit`, and NaN becomes 0, the middle."""
    values = field(fields, name=name).float()
    middle, reach = _middle_and_reach(low, high, values.ndim > 2, values.device)
    return torch.nan_to_num((values - middle) / reach).clamp(-limit, limit)


@lru_cache(maxsize=64)
def _middle_and_reach(low: Bound, high: Bound, maps: bool, device: torch.device) -> tuple[Tensor, Tensor]:
    """Kept on the device, so that no step waits for them; a constant channel has no reach, and becomes 0."""
    ends = [torch.tensor(one, dtype=torch.float64) for one in (low, high)]
    middle, reach = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    reach = torch.where(reach > 0, reach, torch.inf)
    shape = (-1, 1, 1) if maps and middle.ndim else middle.shape
    return middle.float().reshape(shape).to(device), reach.float().reshape(shape).to(device)
