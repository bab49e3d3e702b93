"""RandAugment: each operation is torchvision's on single pictures, views stay aligned, the generator decides alone."""

import math
from functools import partial

import pytest
import torch
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as torchvision
from torchvision.transforms.autoaugment import RandAugment

from coview.views import colour_jitter, in_turn, rand_augment, random_resized_crop
from coview.views.affine import after, of_boxes, warp
from coview.views.randaugment import NAMES, OPERATIONS, Chosen, draw, geometry, tone
from coview.views.tone import levels, pixels

BATCH, SIDE = 6, 31
STRENGTH = torch.tensor([1.0, -1.0, 0.4, -0.63, 0.05, -0.2])
shear = partial(
    torchvision.affine,
    angle=0.0,
    translate=[0, 0],
    scale=1.0,
    interpolation=InterpolationMode.BILINEAR,
    center=[0, 0],
)
shift = partial(
    torchvision.affine, angle=0.0, scale=1.0, shear=[0.0, 0.0], interpolation=InterpolationMode.BILINEAR
)
THEIRS = {
    "identity": lambda picture, amount: picture,
    "autocontrast": lambda picture, amount: torchvision.autocontrast(picture),
    "rotate": lambda picture, amount: torchvision.rotate(picture, amount, InterpolationMode.BILINEAR),
    "sharpness": lambda picture, amount: torchvision.adjust_sharpness(picture, 1 + amount),
    "shear_x": lambda picture, amount: shear(picture, shear=[math.degrees(math.atan(amount)), 0.0]),
    "shear_y": lambda picture, amount: shear(picture, shear=[0.0, math.degrees(math.atan(amount))]),
    "translate_x": lambda picture, amount: shift(picture, translate=[amount * SIDE, 0]),
    "translate_y": lambda picture, amount: shift(picture, translate=[0, amount * SIDE]),
}


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def pictures(batch: int = BATCH) -> torch.Tensor:
    noise = torch.nn.functional.avg_pool2d(torch.rand(batch, 3, SIDE, SIDE), 5, 1, 2)
    return (400 * noise - 75).clamp(0, 255).to(torch.uint8)


def applied(rgb: torch.Tensor, chosen: list[Chosen]) -> torch.Tensor:
    """The operations on whole pictures, nothing beside them, as torchvision does them."""
    affine = of_boxes(torch.tensor([[0.0, 0.0, SIDE, SIDE]]).expand(len(rgb), 4))
    for one in chosen:
        affine = after(affine, geometry(one))
    picture = levels(warp({"rgb": rgb}, affine, size=SIDE, outside="zeros")["rgb"])
    for one in chosen:
        picture = tone(picture, one)
    return pixels(picture)


def every(name: str) -> Chosen:
    return Chosen(torch.full((BATCH,), NAMES.index(name)), STRENGTH)


@pytest.mark.parametrize("name", NAMES)
def test_each_operation_is_torchvisions(name):
    rgb = pictures()
    found = applied(rgb, [every(name)])
    for sample, strength in enumerate(STRENGTH.tolist()):
        wanted = THEIRS[name](rgb[sample], strength * OPERATIONS[name])
        assert (found[sample].int() - wanted.int()).abs().max() <= 1
        assert torch.equal(wanted, rgb[sample]) == (name == "identity")


def test_what_the_strongest_does_is_torchvisions():
    space = RandAugment()._augmentation_space(31, (SIDE, SIDE))
    theirs = {
        "rotate": "Rotate",
        "sharpness": "Sharpness",
        "shear_x": "ShearX",
        "shear_y": "ShearY",
        "translate_x": "TranslateX",
        "translate_y": "TranslateY",
    }
    for name, strongest in OPERATIONS.items():
        if name in theirs:
            side = SIDE if name.startswith("translate") else 1
            assert float(space[theirs[name]][0][30]) == pytest.approx(strongest * side)


def test_two_operations_at_once_are_one_after_the_other():
    """A shift by whole pixels costs torchvision nothing, so both ways are one resampling."""
    rgb = pictures()
    whole = [7, -3, 4, 0, -11, 1]
    moved = Chosen(every("translate_x").operation, torch.tensor(whole) / SIDE / OPERATIONS["translate_x"])
    for name in ("rotate", "shear_y"):
        for order in ([moved, every(name)], [every(name), moved]):
            found = applied(rgb, order)
            for sample, strength in enumerate(STRENGTH.tolist()):
                wanted = rgb[sample]
                for one in order:
                    if one is moved:
                        wanted = THEIRS["translate_x"](wanted, whole[sample] / SIDE)
                    else:
                        wanted = THEIRS[name](wanted, strength * OPERATIONS[name])
                kept = wanted != 0  # where theirs has not fallen out of the picture on the way
                kept &= torch.nn.functional.avg_pool2d(kept.float(), 3, 1, 1) > 0.99
                assert kept.float().mean() > 0.3
                assert (found[sample].int() - wanted.int()).abs()[kept].max() <= 1


def test_operations_and_magnitudes_are_drawn_for_each_sample():
    (first, second) = draw(40_000, 2, 9.0, seeded(0), torch.device("cpu"))
    for one in (first, second):
        counts = one.operation.bincount(minlength=len(NAMES))
        assert len(counts) == len(NAMES)
        assert (counts / 5000 - 1).abs().max() < 0.06
        assert one.strength.abs().mean() == pytest.approx(9 / 30, rel=0.02)  # as torchvision's on the average
        assert one.strength.abs().max() == pytest.approx(18 / 30, rel=0.001)
        assert (one.strength < 0).float().mean() == pytest.approx(0.5, abs=0.01)
    assert (first.operation == second.operation).float().mean() == pytest.approx(1 / 8, abs=0.01)
    strong = draw(1000, 1, 25.0, seeded(0), torch.device("cpu"))[0].strength
    assert strong.abs().max() == 1.0


def test_maps_stay_aligned():
    """A picture of places that is interpolated lies within a pixel of the places that are not, where colour stayed."""
    many = 60
    steps = torch.arange(SIDE)
    place = torch.stack([*torch.meshgrid(steps, steps, indexing="ij"), steps.expand(SIDE, SIDE)])
    place = place.expand(many, 3, SIDE, SIDE).contiguous()
    fields = {"rgb": (8 * place).to(torch.uint8), "depth": place, "age": torch.arange(many)}
    found = rand_augment(fields, seeded(1), size=19, magnitude=30.0)
    apart = (found["rgb"] / 8 - found["depth"]).abs().amax((1, 2, 3))
    assert (
        0.4 < (apart < 0.6).float().mean() < 0.75
    )  # (6/8)**2 of them have neither autocontrast nor sharpness
    assert found["age"] is fields["age"]
    clip = rand_augment({"clip": place[:, None].expand(many, 2, 3, SIDE, SIDE)}, seeded(1), size=19)["clip"]
    depth = rand_augment({"depth": place}, seeded(1), size=19)["depth"]
    assert torch.equal(clip, depth[:, None].expand_as(clip))


def test_without_operations_it_is_the_random_resized_crop():
    fields = {"rgb": pictures(), "depth": torch.rand(BATCH, 1, SIDE, SIDE)}
    found = rand_augment(fields, seeded(5), size=17, operations=0, scale=(0.3, 0.9), smooth=2)
    wanted = random_resized_crop(fields, seeded(5), size=17, scale=(0.3, 0.9), smooth=2)
    assert torch.equal(found["depth"], wanted["depth"])
    assert (found["rgb"].int() - wanted["rgb"].int()).abs().max() <= 1


def test_only_its_generator_decides():
    fields = {"rgb": pictures()}
    before = torch.get_rng_state()
    one, other = (rand_augment(fields, seeded(7), size=17)["rgb"] for _ in range(2))
    assert torch.equal(one, other)
    assert not torch.equal(one, rand_augment(fields, seeded(8), size=17)["rgb"])
    assert torch.equal(torch.get_rng_state(), before)
    table = {"age": torch.arange(BATCH)}
    assert rand_augment(table, seeded(0), size=17) is table


def test_it_never_looks_at_the_data():
    """On the meta device there is nothing to look at; so on a GPU nothing waits."""
    fields = {"rgb": pictures(), "normal": torch.rand(BATCH, 3, SIDE, SIDE)}
    fields = {name: values.to("meta") for name, values in fields.items()}
    found = rand_augment(fields, seeded(0), size=17)
    assert found["rgb"].shape == found["normal"].shape == (BATCH, 3, 17, 17)


def test_parts_in_turn():
    fields = {"rgb": pictures()}
    crop, jitter = partial(rand_augment, size=17), partial(colour_jitter, saturation=0.2)
    generator = seeded(2)
    wanted = jitter(crop(fields, generator), generator)["rgb"]
    assert torch.equal(in_turn(fields, seeded(2), crop=crop, jitter=jitter)["rgb"], wanted)
