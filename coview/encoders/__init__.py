"""From a view to its embedding, with features by layer for the probes."""

from coview.encoders.alexnet import HalfAlexNet, imagenet_half, stl10_half
from coview.encoders.convolutional import SmallConv
from coview.encoders.each import Encoders
from coview.encoders.load import load_encoders
from coview.encoders.mlp import MLP
from coview.encoders.resnet import ResNet
from coview.encoders.timm import timm_encoder

__all__ = [
    "MLP",
    "Encoders",
    "HalfAlexNet",
    "ResNet",
    "SmallConv",
    "imagenet_half",
    "load_encoders",
    "stl10_half",
    "timm_encoder",
]
