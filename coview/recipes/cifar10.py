"""CIFAR-10: the plain method with ResNet-18 halves, in minutes; and with what else the library has.

Claim:     200 epochs of L against ab, the softmax over all 50,000 pictures and nothing else, give nearest neighbours
           of 80 % or more in under ten minutes; two crops, slow copies, jitter and heads of two layers give 87 %.
Command:   coview train cifar10, and coview probe runs/cifar10 --kind knn; or coview reproduce cifar10
Hardware:  made for one H200; no run has been timed yet.
Others:    one full ResNet-18 (11.2 M parameters), 200 epochs, kNN: SimCLR 84.7 in 98 minutes, MoCo 83.8, BYOL 86.9.
Ours:      not run yet. Both halves together have 12.7 M parameters.
"""

from dataclasses import replace
from functools import partial

import torch

from coview.contrast import Bank, CosineCritic, PairGraph
from coview.recipes.pictures import pictures
from coview.training import Recipe, queue
from coview.views import chroma, colour_jitter, in_turn, lightness

CHANNELS = {"L": 1, "ab": 2}


def cifar10(data_name: str = "cifar10") -> Recipe:
    """L against ab, ResNet-18 halves, the softmax over all pictures."""
    images = pictures(data_name)
    return Recipe(
        data=images.data(),
        views={"L": lightness, "ab": chroma},
        augment=images.augment(),
        still=images.still(),
        encoders={name: images.resnet(channels, width=0.75) for name, channels in CHANNELS.items()},
        graph=PairGraph([("L", "ab")]),
        critic=partial(CosineCritic, temperature=0.1),
        negatives=partial(Bank, draw="all", momentum=0.5),
        **images.schedule(200),
        batch_size=256,
        learning_rate=0.06,
        weight_decay=5e-4,
        schedule="cosine",
        compile=torch.cuda.is_available(),  # elsewhere it is seldom won back
        log_every=50,
        save_every=20,
        probe_layer="pooled",
    )


def cifar10_combined(data_name: str = "cifar10") -> Recipe:
    """Keys of slow copies and of another crop, jitter that keeps chroma, heads of two layers."""
    images, plain = pictures(data_name), cifar10(data_name)
    jitter = partial(colour_jitter, brightness=0.4, contrast=0.4, saturation=0.4, hue=0.02, share=0.8)
    return replace(
        plain,
        augment=partial(in_turn, crop=images.augment(), jitter=jitter),
        encoders={
            name: images.resnet(channels, width=0.75, head="mlp") for name, channels in CHANNELS.items()
        },
        negatives=partial(queue, size=16_384),
        slow=0.99,
        crops=2,
    )


def cifar10_best(data_name: str = "cifar10") -> Recipe:
    """The combination with each view against itself as well, and the last key of every picture among the candidates."""
    return replace(
        cifar10_combined(data_name),
        graph=PairGraph([("L", "ab"), ("L", "L"), ("ab", "ab")]),
        negatives=partial(queue, size=pictures(data_name).samples),
    )
