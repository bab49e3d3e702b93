"""From a view to its embedding, with features by layer for the probes."""

from coview.encoders.alexnet import HalfAlexNet, cifar10_half, imagenet_half, stl10_half
from coview.encoders.caffenet import CaffeNet
from coview.encoders.cells import with_cells
from coview.encoders.convolutional import SmallConv
from coview.encoders.each import Encoders, SameAs
from coview.encoders.head import with_head
from coview.encoders.jigsaw import with_jigsaw
from coview.encoders.mlp import MLP
from coview.encoders.resnet import ResNet
from coview.encoders.slow import SlowEncoders
from coview.encoders.strided import Strided
from coview.encoders.timm import timm_encoder

__all__ = [
    "MLP",
    "CaffeNet",
    "Encoders",
    "HalfAlexNet",
    "ResNet",
    "SameAs",
    "SlowEncoders",
    "SmallConv",
    "Strided",
    "cifar10_half",
    "imagenet_half",
    "stl10_half",
    "timm_encoder",
    "with_cells",
    "with_head",
    "with_jigsaw",
]
