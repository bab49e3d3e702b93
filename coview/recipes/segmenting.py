"""What is where, read from a view: a decoder on an encoder of a recipe, trained and scored on its frames."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Int, UInt8
from torch import Tensor, nn

from coview.data import Dataset
from coview.data.rgbd import Frames
from coview.encoders import UNet
from coview.probes.layers import mode
from coview.probes.segmentation import Segmented, Shown, say, score, train_decoder
from coview.recipes.measure import as_trained, fastest_device
from coview.training import Recipe
from coview.types import Sample
from coview.views import augmented

BATCH, WHOLE = 32, 16  # crops to learn from, and whole frames to test on


@dataclass(frozen=True)
class Reading:
    """A decoder on a view's encoder, how well it does, and the frames that it was tested on."""

    unet: UNet
    scored: Segmented
    recipe: Recipe
    view: str
    test: Frames

    @torch.no_grad()
    def shown(self, rows: Int[Tensor, "S"]) -> tuple[UInt8[Tensor, "S 3 H W"], Tensor, Tensor]:
        """Some frames: their pictures, the true segments, and those that were said."""
        fields = self.test.fetch(rows).fields
        with mode([self.unet], training=False), as_trained(self.recipe, self.test.device):
            said = say(self.unet, self.recipe.views[self.view](fields))
        return fields["rgb"], fields["segment"], said


def read_segments(
    recipe: Recipe,
    encoder: nn.Module,
    view: str,
    splits: Mapping[str, Dataset],
    *,
    epochs: int,
    frozen: bool = True,
) -> Reading:
    """Train a decoder on crops as contrast has them, and score it on whole frames to test on.

    With `frozen=False` the encoder learns too: from a random start that is supervision, the bound from above.
    """
    device = fastest_device()
    frames = {split: usable(data, view).to(device) for split, data in splits.items()}
    train, test = frames["train"], frames["test"]
    torch.manual_seed(recipe.seed)
    generator = torch.Generator(device).manual_seed(recipe.seed)
    first = recipe.views[view](train.fetch(torch.arange(min(2, len(train)))).fields)
    classes = len(train.segments) - 1
    unet = UNet(encoder.to(device), first, classes=classes, frozen=frozen).to(device)

    def crops(epoch: int) -> Iterator[Shown]:
        order = torch.randperm(len(train), generator=generator, device=device)
        full = max(len(train) // BATCH, 1) * BATCH
        for rows in order[:full].split(BATCH):
            yield _shown(augmented(train.fetch(rows), recipe.augment, generator), recipe, view)

    with as_trained(recipe, device):
        train_decoder(unet, crops, epochs=epochs)
        scored = score(unet, (_shown(one, recipe, view) for one in test.batches(WHOLE)), classes=classes)
    return Reading(unet, scored, recipe, view, test)


def usable(frames: Dataset, view: str) -> Frames:
    """The frames that have a view and segments; of the fields, those that the two need."""
    if not isinstance(frames, Frames) or "segment" not in frames.fields:
        raise ValueError(f"dataset '{frames.name}' has no segments: frames need label/ to be segmented")
    there = torch.ones(len(frames), dtype=torch.bool)
    for name in (view, "segment"):
        there &= frames.present.get(name, there).cpu()
    some = frames if bool(there.all()) else frames.subset(there.nonzero().flatten())
    return replace(some, present={})


def _shown(sample: Sample, recipe: Recipe, view: str) -> Shown:
    return recipe.views[view](sample.fields), sample.fields["segment"]
