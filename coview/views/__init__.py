"""From the fields of a sample to its views, batched on the device."""

from coview.views.augment import crop_and_flip
from coview.views.clip import flow_stack, frame, ten_crops
from coview.views.colour import channels_of, chroma, colour, lightness, rgb_to_lab, split
from coview.views.cut import augmented, cut, look, stand_still
from coview.views.field import field
from coview.views.geometry import depth, normal, segments
from coview.views.in_turn import in_turn
from coview.views.jitter import colour_jitter
from coview.views.patches import patch
from coview.views.plane import normals
from coview.views.randaugment import rand_augment
from coview.views.resample import centre_crop, random_resized_crop
from coview.views.scaled import scaled

__all__ = [
    "augmented",
    "centre_crop",
    "channels_of",
    "chroma",
    "colour",
    "colour_jitter",
    "crop_and_flip",
    "cut",
    "depth",
    "field",
    "flow_stack",
    "frame",
    "in_turn",
    "lightness",
    "look",
    "normal",
    "normals",
    "patch",
    "rand_augment",
    "random_resized_crop",
    "rgb_to_lab",
    "scaled",
    "segments",
    "split",
    "stand_still",
    "ten_crops",
]
