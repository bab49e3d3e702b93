"""Contrast of views together with what others brought: momentum encoders, jigsaws, RandAugment (appendix D.4).

Claim:     MoCo's slow encoders and PIRL's jigsaws each add to CMC, both together add more, and RandAugment on top the
           most. On one view, the whole picture, the same parts are MoCo, PIRL and instance discrimination.
Command:   coview reproduce compatibility, or one of them: coview train compatibility_cmc_moco
Data:      ImageNet-100, with halves of a ResNet-50 for L and ab (12.06 M parameters), one whole for one view.
Hardware:  made for one H200; no run has been timed yet.
Paper:     MoCo 73.5, PIRL 75.1, CMC 75.6, + MoCo 77.2, + PIRL 78.0, + both 79.3, + RandAugment 81.5.
Ours:      not run yet.

What the paper leaves open: the number of negatives (all pictures here, in bank and queue), the momentum of the copies
(0.999, of shorter runs 0.99 and 0.9), what one view is augmented by (light, colours and greys beside the crop, as those
methods have it), the weight of jigsaws (that of the whole) and the strength of RandAugment (two operations of
magnitude 9).
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from coview.contrast import Bank, CosineCritic, PairGraph, jigsaw_graph
from coview.encoders import with_jigsaw
from coview.recipes.pictures import Pictures, pictures
from coview.training import Recipe, queue
from coview.types import Augment, View
from coview.views import chroma, colour, colour_jitter, in_turn, lightness, rand_augment

TWO: Mapping[str, View] = {"L": lightness, "ab": chroma}
ONE: Mapping[str, View] = {"Lab": partial(colour, space="Lab", channels=(0, 1, 2))}
CHANNELS = {"L": 1, "ab": 2, "Lab": 3}
DIM = 128


def compatibility_cmc(data_name: str = "imagenet100") -> Recipe:
    """CMC: L against ab, each among all pictures in memory."""
    return _contrasted(pictures(data_name), TWO)


def compatibility_cmc_moco(data_name: str = "imagenet100") -> Recipe:
    """CMC + MoCo: slow copies make the keys, of a second crop, and a queue keeps them."""
    return _with_slow(compatibility_cmc(data_name), pictures(data_name))


def compatibility_cmc_pirl(data_name: str = "imagenet100") -> Recipe:
    """CMC + PIRL: a jigsaw of each view is asked for the other view as well."""
    return _with_jigsaws(compatibility_cmc(data_name), pictures(data_name))


def compatibility_cmc_moco_pirl(data_name: str = "imagenet100") -> Recipe:
    """CMC + MoCo + PIRL."""
    return _with_jigsaws(compatibility_cmc_moco(data_name), pictures(data_name))


def compatibility_cmc_moco_pirl_rand(data_name: str = "imagenet100") -> Recipe:
    """CMC + MoCo + PIRL + RandAugment."""
    size = pictures(data_name).crop
    crop = partial(rand_augment, size=size, operations=2, magnitude=9.0, scale=(0.2, 1.0))
    return replace(compatibility_cmc_moco_pirl(data_name), augment=crop)


def compatibility_instance(data_name: str = "imagenet100") -> Recipe:
    """Instance discrimination: the whole picture against its own row among all in memory."""
    images = pictures(data_name)
    return replace(_contrasted(images, ONE), augment=_usual(images))


def compatibility_moco(data_name: str = "imagenet100") -> Recipe:
    """MoCo: one view, slow copies, two crops and a queue."""
    return _with_slow(compatibility_instance(data_name), pictures(data_name))


def compatibility_pirl(data_name: str = "imagenet100") -> Recipe:
    """PIRL: one view and its jigsaw, each asked for the picture's row in memory."""
    return _with_jigsaws(compatibility_instance(data_name), pictures(data_name))


def _contrasted(images: Pictures, views: Mapping[str, View]) -> Recipe:
    """Every view against every other, one against itself, as the paper's table has CMC."""
    half = 0.5 if images.crop > 64 else 0.75  # the paper's; of ResNet-18 both halves have what one whole has
    encoders = {name: _encoder(images, CHANNELS[name], half if len(views) > 1 else 1.0) for name in views}
    first, *others = views
    return Recipe(
        data=images.data(),
        views=views,
        augment=images.augment(),
        still=images.still(),
        encoders=encoders,
        graph=PairGraph([(first, other) for other in others] or [(first, first)]),
        critic=partial(CosineCritic, temperature=0.07),
        negatives=partial(Bank, draw="all", momentum=0.5),
        **images.schedule(240),
        schedule="cosine",
        probe_layer="pooled",
        **AROUND,
    )


def _encoder(images: Pictures, channels: int, width: float) -> Any:
    return images.resnet(channels, width=width, dim=DIM)


def _with_slow(recipe: Recipe, images: Pictures) -> Recipe:
    steps = images.schedule(240)["epochs"] * images.samples // AROUND["batch_size"]
    momentum = 0.999 if steps > 100_000 else 0.99 if steps > 10_000 else 0.9
    return replace(recipe, slow=momentum, crops=2, negatives=partial(queue, size=images.samples))


def _with_jigsaws(recipe: Recipe, images: Pictures) -> Recipe:
    tile = round(images.crop / 3.5)  # 64 of 224, in cells of 74
    encoders = {
        name: partial(with_jigsaw, make=make, tile=tile, dim=DIM) for name, make in recipe.encoders.items()
    }
    return replace(recipe, encoders=encoders, graph=jigsaw_graph(recipe.graph))


def _usual(images: Pictures) -> Augment:
    """What a view of the whole picture needs, or its colours alone would tell pictures apart."""
    jitter = partial(
        colour_jitter, brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1, share=0.8, greyed=0.2
    )
    return partial(in_turn, crop=images.augment(), jitter=jitter)


AROUND: dict[str, Any] = {
    "batch_size": 256,
    "learning_rate": 0.03,
    "compile": torch.cuda.is_available(),  # elsewhere it is seldom won back
    "log_every": 50,
    "save_every": 5,
}
