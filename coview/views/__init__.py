"""From the fields of a sample to its views, batched on the device."""

from coview.views.augment import crop_and_flip
from coview.views.colour import chroma, lightness, rgb_to_lab
from coview.views.cut import cut
from coview.views.field import field
from coview.views.geometry import depth, normal

__all__ = ["chroma", "crop_and_flip", "cut", "depth", "field", "lightness", "normal", "rgb_to_lab"]
