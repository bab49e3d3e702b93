"""What the studies of frames measure: what a decoder reads from a view, and what L's encoder is worth on pictures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from coview.contrast import PairGraph
from coview.data import Dataset
from coview.data.images import AbsentData, image_data
from coview.data.rgbd import Frames
from coview.files import write_whole
from coview.probes import find_protocol
from coview.recipes.frames import count_samples, sizes_of
from coview.recipes.measure import count_classes, features_by_layer, probe, supervised
from coview.recipes.segmenting import Reading, read_segments
from coview.reports.segments import segment_sheet
from coview.studies.subject import Subject
from coview.training import Recipe
from coview.views import centre_crop, lightness, random_resized_crop

ON_FRAMES: Mapping[str, Any] = {
    "samples": count_samples,
    "fitted": "Crops, classes and epochs are fitted by the rules of coview/recipes/frames.py.",
}
DECODER, BOUND = 1 / 15, 1 / 3  # epochs of a decoder as a share of those of contrast: 200 and 1,000 of 3,000
PICTURES = ("stl10", "cifar10", "tiny")  # the first that is on disk is what encoders are moved to
MOVED = "accuracy on"  # what the column is called, before the name of the pictures
SHOWN = 6  # frames of a sheet


def segmentation(
    subject: Subject,
    *,
    view: str = "L",
    share: float = DECODER,
    frozen: bool = True,
    classes: int | None = None,
    prefix: str = "",
) -> dict[str, float]:
    """Mean IoU and pixel accuracy in percent of a decoder on a view's encoder, and a sheet in the run folder.

    It is trained for a share of the recipe's epochs. `classes` are others than those of the recipe's data.
    """
    recipe = subject.recipe
    splits = {split: _frames(recipe.data, classes)(split) for split in ("train", "test")}
    epochs = max(round(recipe.epochs * share), 1)
    # A decoder may change the encoder, which the next measure wants as it was.
    encoder = recipe.encoders[view]()
    encoder.load_state_dict(subject.encoders[view].state_dict())
    found = read_segments(recipe, encoder, view, splits, epochs=epochs, frozen=frozen)
    _write_sheet(subject, found, classes)
    return {
        f"{prefix}mIoU": found.scored.mean_iou,
        f"{prefix}accuracy": found.scored.pixel_accuracy,
    }


def moved(
    subject: Subject,
    *,
    onto: Sequence[str] = PICTURES,
    layer: str = "conv5",
    epochs: int | None = None,
    protocol: str = "ours",
) -> dict[str, float]:
    """Percent that a linear classifier reads from L's encoder on pictures that it has not learned from.

    With `epochs` the encoder is first trained on the pictures' own labels: the bound from above.
    """
    known = getattr(subject.recipe.data, "keywords", {})
    name, splits = find_pictures(onto, known.get("root"), known.get("samples"))
    recipe = on_pictures(subject.recipe, sizes_of(known.get("name", "nyu")).crop)
    encoders = nn.ModuleDict({"L": subject.encoders["L"]})
    if epochs is not None:
        encoders = supervised(recipe, splits["train"], epochs, layer=layer)
    found = features_by_layer(encoders, recipe, splits, [layer])[layer]
    score = probe(
        found, ["L"], count_classes(splits["train"]), protocol=find_protocol(protocol), seed=recipe.seed
    )
    return {f"{MOVED} {name}": score.accuracy}


def find_pictures(
    onto: Sequence[str], root: str | None, samples: int | None = None
) -> tuple[str, dict[str, Dataset]]:
    """The first of some image sets that is on disk, or rendered: the splits to fit on and to look at once."""
    for name in onto:
        try:
            found = {
                split: image_data(name, split, root=root, samples=samples) for split in ("train", "test")
            }
        except AbsentData:
            continue
        return name, found
    raise AbsentData(
        f"none of {', '.join(onto)} is on disk to move the encoder to: `coview data {onto[-1]} --download`"
    )


def on_pictures(recipe: Recipe, side: int) -> Recipe:
    """The recipe with pictures for data and L for its only view, at the size that the encoder learned from."""
    return replace(
        recipe,
        views={"L": lightness},
        encoders={"L": recipe.encoders["L"]},
        graph=PairGraph([("L", "L")]),
        augment=partial(random_resized_crop, size=side, scale=(0.2, 1.0)),
        still=partial(centre_crop, size=side, shorter=side),
    )


def _frames(data: Any, classes: int | None) -> Callable[[str], Frames]:
    """A recipe's data with other classes, and without gaps: decoders of all rows learn from the same frames."""
    known = getattr(data, "keywords", {})
    changed: dict[str, Any] = {
        name: value for name, value in {"share": 0.0, "drop": False}.items() if name in known
    }
    return partial(data, **changed) if classes is None else partial(data, classes=classes, **changed)


def _write_sheet(subject: Subject, found: Reading, classes: int | None) -> None:
    rows = torch.arange(SHOWN) * max(len(found.test) // SHOWN, 1)
    rows = rows[rows < len(found.test)]
    test: Frames = found.test
    title = f"Segments from {found.view}: mIoU {found.scored.mean_iou:.1f}, accuracy {found.scored.pixel_accuracy:.1f}"
    sheet = segment_sheet(*found.shown(rows), names=test.segments, title=title)
    name = f"segments-{found.view}{'' if classes is None else f'-{classes}'}.png"
    write_whole(subject.folder / name, lambda file: sheet.savefig(file, format="png", dpi=144))
