"""Patches of one picture, a distance apart, as two views: how much they share decides what is learned (section 4.4).

Claim:     between patches that share too much and patches that share too little lies a distance that is best.
Command:   coview reproduce patch-information, or one of them: coview train patch_pairs --set data.distance=128
Data:      DIV2K, 800 pictures of about 2,040 x 1,400; any folder of large pictures (patch_pairs@FOLDER), or "scenes"
           rendered large. Labels come from another set, `data.labelled`, by default STL-10.
Hardware:  made for one H200; no run has been timed yet.
Ours:      not run yet.

What the paper leaves open: encoders (a whole STL-10 AlexNet for each view), negatives (all), number of pairs, schedule,
and which labelled set is read (STL-10 in its other experiments).
"""

from collections.abc import Mapping
from functools import lru_cache, partial

import torch

from coview.contrast import Bank, CosineCritic, PairGraph
from coview.data import Dataset, Resident
from coview.data.images import image_data
from coview.data.images.large import large_files, large_pictures
from coview.data.patches import FIELDS
from coview.data.patches import patch_pairs as pairs_of
from coview.encoders import stl10_half
from coview.training import Recipe
from coview.views import patch

SIZE = 64
SAMPLES = 50_000
LABELLED = "labelled"  # the split whose labels probes learn from


def patch_pairs(data_name: str = "div2k") -> Recipe:
    """Two patches of 64 x 64, the second 64 pixels to the right and below the first."""
    rooms = data_name == "scenes"
    return Recipe(
        data=partial(
            distant_patches,
            name=data_name,
            root=None,
            distance=SIZE,
            samples=SAMPLES,
            pictures=None,
            side=512,
            labelled="scenes" if rooms else "stl10",
        ),
        views={name: partial(patch, name=name, space="RGB") for name in FIELDS},
        encoders={name: partial(stl10_half, 3, dim=64, width=2.0) for name in FIELDS},
        graph=PairGraph([FIELDS]),
        critic=partial(CosineCritic, temperature=0.1),
        negatives=partial(Bank, draw="all", momentum=0.5),
        epochs=30,
        batch_size=256,
        learning_rate=0.03,
        schedule="cosine",
        compile=torch.cuda.is_available(),  # elsewhere it is seldom won back
        log_every=50,
        save_every=10,
        probe_layer="conv5",
    )


def distant_patches(
    split: str,
    *,
    name: str,
    root: str | None = None,
    distance: int = SIZE,
    samples: int = SAMPLES,
    pictures: int | None = None,
    side: int = 512,
    labelled: str = "stl10",
) -> Dataset:
    """Pairs to learn from; "labelled" and "test" are pictures of a labelled set, the same in both fields."""
    if split == "train":
        large = large_pictures(name, root, pictures=pictures, side=side)
        return pairs_of(f"patches of {name}", large, distance=distance, size=SIZE, samples=samples)
    return both_alike(labelled, "train" if split == LABELLED else split, root)


@lru_cache(maxsize=2)
def both_alike(name: str, split: str, root: str | None) -> Dataset:
    """Whole pictures of 64 x 64 in the place of either patch."""
    found = image_data(name, split, root=root, side=SIZE, resident="always")
    assert isinstance(found, Resident)
    fields = dict.fromkeys(FIELDS, found.fields["rgb"])
    return Resident(found.name, fields, found.label, found.classes)


def count_patches(name: str, root: str | None = None) -> Mapping[str, int]:
    """How many pairs are learned from; absent pictures raise an error that says how to get them."""
    if name != "scenes":
        large_files(name, root)
    return {"train": SAMPLES}
