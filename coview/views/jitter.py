"""Colour jitter that leaves chroma its meaning: light, contrast and saturation vary, hues hardly."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coview.types import Fields
from coview.views.tone import Levels, blend, grey, hue_turned, levels, per_sample, pixels

BRIGHTNESS, CONTRAST, SATURATION = range(3)


def colour_jitter(
    fields: Fields,
    generator: torch.Generator,
    *,
    brightness: float = 0.4,
    contrast: float = 0.4,
    saturation: float = 0.4,
    hue: float = 0.02,
    share: float = 0.8,
    greyed: float = 0.0,
) -> Fields:
    """Each changed by a factor within 1 +- its number, in an order of each sample's own; then hues moved by +- `hue`.

    A `share` of the samples is changed; other fields than "rgb" stay. Factors are drawn as torchvision draws them, but
    hue, which is a part of a whole turn, always comes last. Views of the whole picture can bear that a part of all
    samples is `greyed`; in a view of colours nothing would be left.
    """
    if "rgb" not in fields:
        return fields
    rgb = fields["rgb"]
    draw = torch.rand(9, len(rgb), generator=generator, device=generator.device).to(rgb.device)
    chosen = draw[0] < share
    ranges = [(max(1 - reach, 0.0), 1 + reach) for reach in (brightness, contrast, saturation)]
    factors = [
        torch.where(chosen, low + (high - low) * luck, 1.0)
        for (low, high), luck in zip(ranges, draw[1:4], strict=True)
    ]
    picture = in_order(levels(rgb), torch.stack(factors), draw[4:7].argsort(0))
    if hue:
        picture = hue_turned(picture, torch.where(chosen, hue * (2 * draw[7] - 1), 0.0))
    if greyed:
        picture = torch.where(per_sample(draw[8] < greyed, picture), grey(picture), picture)
    return {**fields, "rgb": pixels(picture)}


def in_order(picture: Levels, factors: Float[Tensor, "3 B"], order: Int[Tensor, "3 B"]) -> Levels:
    """Brightness, contrast and saturation by their factors; of each sample the first row of `order` comes first."""
    for kind in order:
        tint = grey(picture)
        mean = tint.mean((-2, -1), keepdim=True)
        which = per_sample(kind, picture)
        other = torch.where(which == CONTRAST, mean, torch.where(which == SATURATION, tint, 0.0))
        picture = blend(picture, other, factors.gather(0, kind[None])[0])
    return picture
