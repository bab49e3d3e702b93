"""ImageNet: what linear classifiers read from contrasted colours, by layer and by width (section 4.1, appendix D.2).

Claim:     half-AlexNets that are contrasted beat Split-Brain, most at the deepest layer, and at conv2, conv4 and
           conv5 all others that the paper quotes (at conv1 and conv3 AET is ahead); wider ResNets learn more, and
           Y with DbDr, which share less than L with ab, learn more than these.
Command:   coview reproduce imagenet-alexnet and coview reproduce imagenet-resnet --root /data, or one of the recipes:
           coview train imagenet_resnet --set encoders.Y.width=0.5 --set encoders.DbDr.width=0.5
Hardware:  made for one H200; no run has been timed yet.
Paper:     AlexNet {Y, DbDr}, conv1 to conv5: 18.3 33.7 38.3 40.5 42.8, Split-Brain 17.7 29.3 35.4 35.2 32.8;
           ResNet-50 x0.5, x1, x2, top-1 / top-5: {L, ab} 57.5 / 80.3, 64.0 / 85.5, 68.3 / 88.2; {Y, DbDr}
           58.4 / 81.2, 64.8 / 86.1, 69.0 / 88.9; with RandAugment 60.0 / 82.3, 66.2 / 87.0, 70.6 / 89.7.
Ours:      not run yet.

What the paper leaves open: batches (256, as released; of patches 128), how small a crop may be (0.2 of the picture for
AlexNets as released, 0.08 for ResNets, PyTorch's default), how long ResNets train (200 epochs, as AlexNets),
RandAugment's strength (two operations of magnitude 9), Split-Brain's schedule (that of contrast).
"""

from dataclasses import replace
from functools import partial
from typing import Any

import torch

from coview.contrast import Bank, BilinearCritic, CosineCritic, NCELoss, full_graph, patch_graph
from coview.recipes.pictures import Pictures, pictures
from coview.recipes.stl10 import CELLS, by_adam, cells_of
from coview.training import Recipe, patches, softmax
from coview.training.prediction import split_brain
from coview.types import View
from coview.views import channels_of, rand_augment, split

DIM = 128
ALEXNET_NEGATIVES, RESNET_NEGATIVES = 4096, 16_384


def imagenet_alexnet(data_name: str = "imagenet") -> Recipe:
    """Half-AlexNets of Y and DbDr, by NCE among 4,096 negatives: the paper's row."""
    return _alexnet(pictures(data_name), split("YDbDr"))


def imagenet_alexnet_lab(data_name: str = "imagenet") -> Recipe:
    """The same for L and ab."""
    return _alexnet(pictures(data_name), split("Lab"))


def imagenet_alexnet_exact(data_name: str = "imagenet") -> Recipe:
    """Y and DbDr by the softmax over all pictures."""
    bank = partial(Bank, draw="all", momentum=0.5)
    return replace(imagenet_alexnet(data_name), negatives=bank, loss=softmax)


def imagenet_alexnet_patch(data_name: str = "imagenet") -> Recipe:
    """L and ab, each as a whole against cells of the other's early maps: as on STL-10, at ten times its rate."""
    images, plain = pictures(data_name), imagenet_alexnet_lab(data_name)
    return replace(
        plain,
        encoders={name: cells_of(half, images, dim=DIM) for name, half in plain.encoders.items()},
        graph=patch_graph(list(plain.views), CELLS),
        critic=partial(BilinearCritic, dim=DIM),
        negatives=partial(patches, same_image=False),
        loss=softmax,
        **{**by_adam(images), "learning_rate": 0.01},
    )


def imagenet_split_brain(data_name: str = "imagenet") -> Recipe:
    """Split-Brain: the same halves of L and ab, each predicting the other."""
    return replace(imagenet_alexnet_lab(data_name), objective=split_brain)


def imagenet_resnet(data_name: str = "imagenet") -> Recipe:
    """A ResNet-50 for Y and one for DbDr, by a softmax among 16,385; `encoders.Y.width=2` widens it."""
    return _resnet(pictures(data_name), split("YDbDr"))


def imagenet_resnet_lab(data_name: str = "imagenet") -> Recipe:
    """The same for L and ab."""
    return _resnet(pictures(data_name), split("Lab"))


def imagenet_resnet_randaugment(data_name: str = "imagenet") -> Recipe:
    """Y and DbDr with RandAugment, of the operations that leave colour its meaning."""
    images = pictures(data_name)
    crop = partial(rand_augment, size=images.crop, operations=2, magnitude=9.0, scale=(0.08, 1.0))
    return replace(imagenet_resnet(data_name), augment=crop)


def imagenet_resnet_exact(data_name: str = "imagenet") -> Recipe:
    """Y and DbDr by the softmax over all pictures."""
    return replace(imagenet_resnet(data_name), negatives=partial(Bank, draw="all", momentum=0.5))


def _alexnet(images: Pictures, views: dict[str, View]) -> Recipe:
    encoders = {name: images.half(count, dim=DIM) for name, count in channels_of(views).items()}
    return Recipe(
        data=images.data(),
        views=views,
        augment=images.augment(),
        still=images.still(),
        encoders=encoders,
        graph=full_graph(list(views)),
        critic=partial(CosineCritic, temperature=0.07),
        negatives=partial(Bank, draw=images.negatives(ALEXNET_NEGATIVES), shared=False, momentum=0.5),
        loss=partial(NCELoss, normaliser="first_batch"),
        **images.schedule(200, (120, 160)),
        schedule="step",
        probe_layer="conv5",
        **AROUND,
    )


def _resnet(images: Pictures, views: dict[str, View]) -> Recipe:
    encoders = {name: images.resnet(count, width=1.0) for name, count in channels_of(views).items()}
    return Recipe(
        data=images.data(),
        views=views,
        augment=images.augment(smallest=0.08),
        still=images.still(),
        encoders=encoders,
        graph=full_graph(list(views)),
        critic=partial(CosineCritic, temperature=0.07),
        negatives=partial(Bank, draw=images.negatives(RESNET_NEGATIVES), shared=False, momentum=0.5),
        **images.schedule(200),
        schedule="cosine",
        probe_layer="pooled",
        **AROUND,
    )


AROUND: dict[str, Any] = {
    "batch_size": 256,
    "learning_rate": 0.03,
    "compile": torch.cuda.is_available(),  # elsewhere it is seldom won back
    "log_every": 50,
    "save_every": 5,
}
