"""Augmentations one after the other, as one augmentation."""

import torch

from coview.types import Augment, Fields


def in_turn(fields: Fields, generator: torch.Generator, **augments: Augment) -> Fields:
    """`partial(in_turn, crop=partial(...), jitter=partial(...))`: in the order in which they are named."""
    for augment in augments.values():
        fields = augment(fields, generator)
    return fields
