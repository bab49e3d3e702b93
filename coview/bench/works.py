"""What the time of a step is taken of: recipes on noise of the paper's sizes."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from coview.contrast import Bank, CosineCritic, PairGraph
from coview.data import Resident
from coview.encoders import NYUEncoder, ResNet, imagenet_half, stl10_half
from coview.recipes.measure import fastest_device
from coview.recipes.nyu import CHANNELS as CHANNELS_OF_FRAMES
from coview.recipes.nyu import DIM, nyu
from coview.training import Recipe
from coview.types import Sample
from coview.views import (
    chroma,
    colour_jitter,
    crop_and_flip,
    in_turn,
    lightness,
    rand_augment,
    random_resized_crop,
)

CHANNELS = {"L": 1, "ab": 2}
VIEWS = {"L": lightness, "ab": chroma}


@dataclass(frozen=True)
class Repeated(Resident):
    """As many samples as are wanted, of which the pictures repeat: they need not all fit on the device."""

    samples: int = 0

    def __len__(self) -> int:
        return self.samples

    def fetch(self, index: Tensor) -> Sample:
        index = index.to(self.device)
        pictures = len(self.fields["rgb"])
        return Sample({"rgb": self.fields["rgb"][index % pictures]}, index)


def noise_pictures(split: str, *, name: str, samples: int, pictures: int, side: int) -> Repeated:
    """Random pictures; what is in them does not change the time."""
    device = fastest_device()
    generator = torch.Generator(device).manual_seed(0)
    shape = (pictures, 3, side, side)
    rgb = torch.randint(256, shape, dtype=torch.uint8, generator=generator, device=device)
    return Repeated(name, {"rgb": rgb}, samples=samples)


def work(
    *,
    samples: int,
    pictures: int,
    side: int,
    size: int,
    encoder: Callable[..., nn.Module],
    dim: int,
    batch_size: int = 256,
    resized: bool = True,
    padding: int = 0,
) -> Recipe:
    """Two colour views, SGD, the softmax over the whole memory."""
    crop = partial(random_resized_crop, size=size, scale=(0.2, 1.0))
    if not resized:
        crop = partial(crop_and_flip, size=size, padding=padding)
    return Recipe(
        data=partial(noise_pictures, name="noise", samples=samples, pictures=pictures, side=side),
        views=VIEWS,
        augment=crop,
        encoders={name: partial(encoder, channels, dim=dim) for name, channels in CHANNELS.items()},
        graph=PairGraph([("L", "ab")]),
        critic=partial(CosineCritic, temperature=0.07),
        negatives=partial(Bank, draw="all"),
        batch_size=batch_size,
        compile=True,
    )


def works(device: torch.device) -> dict[str, Recipe]:
    """What the time of a step is taken of: the paper's encoders at the paper's sizes, or in small on a CPU."""
    large = device.type == "cuda"
    few: dict[str, Any] = {} if large else {"samples": 20_000, "pictures": 256, "batch_size": 16}
    imagenet: dict[str, Any] = {"samples": 1_281_167, "pictures": 4096, "side": 256, "size": 224, "dim": 128}
    stl: dict[str, Any] = {"samples": 105_000, "pictures": 105_000, "side": 96, "size": 64, "dim": 64}
    cifar: dict[str, Any] = {"samples": 50_000, "pictures": 50_000, "side": 32, "size": 32, "dim": 128}
    small = partial(
        work, encoder=partial(ResNet, depth=18, width=0.75, stem="cifar"), resized=False, padding=4
    )
    found = {
        "half-AlexNets at 224": work(encoder=imagenet_half, **imagenet | few),
        "STL-10 halves at 64": partial(work, resized=False)(encoder=stl10_half, **stl | few),
    }
    for batch_size in (256, 512, 1024) if large else (16,):
        name = f"ResNet-18 halves at 32, batch {batch_size}"
        found[name] = small(**{**cifar, **few, "batch_size": batch_size})
    frames: dict[str, Any] = {"pictures": 795, "height": 240, "width": 320, "size": 128, "batch_size": 128}
    tiny: dict[str, Any] = {"pictures": 40, "batch_size": 8}
    found["four views of frames at 128, cells"] = four_views(**frames if large else frames | tiny)
    if large:
        found["ResNet-50 pair at 224"] = work(encoder=partial(ResNet, depth=50), **imagenet)
    for name in ("half-AlexNets at 224", "STL-10 halves at 64"):
        found[f"{name}, RandAugment"] = with_rand_augment(found[name])
    return found


def four_views(
    *, pictures: int, height: int, width: int, size: int, batch_size: int, encoder_width: float = 1.0
) -> Recipe:
    """Frames with depth as section 4.3 has them: four views, the full graph, wholes against cells of early maps."""
    recipe = nyu("nyu")
    encoders: dict[str, Any] = {
        name: partial(
            make, make=partial(NYUEncoder, CHANNELS_OF_FRAMES[name], dim=DIM, width=encoder_width), side=size
        )
        for name, make in recipe.encoders.items()
        if isinstance(make, partial)
    }
    return replace(
        recipe,
        data=partial(noise_frames, samples=pictures, height=height, width=width),
        augment=partial(crop_and_flip, size=size, padding=0),
        encoders=encoders,
        batch_size=batch_size,
        compile=True,
    )


def noise_frames(split: str, *, samples: int, height: int, width: int) -> Resident:
    """Random frames in the types that they are kept in."""
    device = fastest_device()
    draw = partial(torch.randint, generator=torch.Generator(device).manual_seed(0), device=device)
    fields = {
        "rgb": draw(256, (samples, 3, height, width), dtype=torch.uint8),
        "depth": (draw(100, (samples, 1, height, width)) / 10).half(),
        "normal": draw(-73, 74, (samples, 3, height, width), dtype=torch.int8),
        "segment": draw(14, (samples, 1, height, width), dtype=torch.uint8),
    }
    return Resident("noise", fields)


def with_rand_augment(recipe: Recipe) -> Recipe:
    """The same with random operations in the crop, and colour jitter."""
    assert isinstance(recipe.augment, partial)
    crop = partial(rand_augment, size=recipe.augment.keywords["size"], magnitude=9.0)
    return replace(recipe, augment=partial(in_turn, crop=crop, jitter=partial(colour_jitter)))
