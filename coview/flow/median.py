"""The median of square windows by comparisons alone, which a compiler makes into one kernel."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional


def median_filter(values: Float[Tensor, "B C H W"], size: int) -> Float[Tensor, "B C H W"]:
    """Each value becomes the median of a window of `size` x `size` around it; borders are repeated."""
    if size < 2:
        return values
    if size % 2 == 0:
        raise ValueError(f"a median has a middle: wanted an odd window, got {size}")
    height, width = values.shape[-2:]
    padded = functional.pad(values, [size // 2] * 4, mode="replicate")
    return _middle([padded[..., y : y + height, x : x + width] for y in range(size) for x in range(size)])


def _middle(values: list[Tensor]) -> Tensor:
    """The median of an odd number of tensors, value by value.

    Of more than half of them neither the least nor the greatest can be it: both go, and the next one comes.
    """
    some, waiting = values[: len(values) // 2 + 2], values[len(values) // 2 + 2 :]
    while len(some) > 1:
        some = _without_ends(some)
        some += [waiting.pop()] if waiting else []
    return some[0]


def _without_ends(values: list[Tensor]) -> list[Tensor]:
    """All but the least and the greatest."""
    half = len(values) // 2
    pairs = list(zip(values[:half], values[half : 2 * half], strict=True))
    low, high = [torch.minimum(*pair) for pair in pairs], [torch.maximum(*pair) for pair in pairs]
    odd = values[2 * half :]
    low, high = _last_is(torch.minimum, torch.maximum, low + odd), high
    least_left, rest = low[:-1], []
    if odd:  # it has been moved on by the search for the least, and may be the greatest
        high = [*high, least_left.pop()]
    rest = _last_is(torch.maximum, torch.minimum, high)[:-1]
    return least_left + rest


def _last_is(keep, leave, values: list[Tensor]) -> list[Tensor]:
    """The same values with the least, or the greatest, at the end."""
    moved, best = [], values[0]
    for value in values[1:]:
        moved.append(leave(best, value))
        best = keep(best, value)
    return [*moved, best]
