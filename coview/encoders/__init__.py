"""From a view to its embedding, with features by layer for the probes."""

from coview.encoders.alexnet import HalfAlexNet, cifar10_half, imagenet_half, stl10_half
from coview.encoders.caffenet import CaffeNet
from coview.encoders.cells import with_cells
from coview.encoders.convolutional import SmallConv
from coview.encoders.each import Encoders, SameAs
from coview.encoders.head import with_head
from coview.encoders.jigsaw import WithJigsaw, with_jigsaw
from coview.encoders.load import load_encoders
from coview.encoders.mlp import MLP
from coview.encoders.norm import is_synchronised, synchronise
from coview.encoders.nyu import NYUEncoder
from coview.encoders.resnet import ResNet
from coview.encoders.slow import SlowEncoders
from coview.encoders.strided import Strided
from coview.encoders.timm import timm_encoder
from coview.encoders.unet import UNet

__all__ = [
    "MLP",
    "CaffeNet",
    "Encoders",
    "HalfAlexNet",
    "NYUEncoder",
    "ResNet",
    "SameAs",
    "SlowEncoders",
    "SmallConv",
    "Strided",
    "UNet",
    "WithJigsaw",
    "cifar10_half",
    "imagenet_half",
    "is_synchronised",
    "load_encoders",
    "stl10_half",
    "synchronise",
    "timm_encoder",
    "with_cells",
    "with_head",
    "with_jigsaw",
]
