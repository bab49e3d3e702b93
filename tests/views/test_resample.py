"""Boxes of any size: each pixel from its place, drawn as torchvision draws them, all maps alike."""

import numpy as np
import pytest
import torch
from torchvision.transforms import RandomResizedCrop
from torchvision.transforms.functional import InterpolationMode, resized_crop

from coview.views import centre_crop, crop_and_flip, random_resized_crop
from coview.views.resample import random_boxes, resample

BATCH, HEIGHT, WIDTH = 6, 37, 53


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def picture(batch: int = BATCH) -> torch.Tensor:
    return torch.randint(256, (batch, 3, HEIGHT, WIDTH), dtype=torch.uint8)


def places(batch: int = BATCH) -> torch.Tensor:
    """A map [B 2 H W] of which each pixel holds the middle of its own row and column."""
    rows, columns = torch.meshgrid(torch.arange(HEIGHT) + 0.5, torch.arange(WIDTH) + 0.5, indexing="ij")
    return torch.stack([rows, columns]).expand(batch, 2, HEIGHT, WIDTH).contiguous()


def slowly(image: np.ndarray, box: list[float], size: int, *, mirrored: bool) -> np.ndarray:
    """Bilinear interpolation, a pixel at a time."""
    top, left, height, width = box
    channels, tall, wide = image.shape
    found = np.zeros((channels, size, size))
    for row in range(size):
        for column in range(size):
            across = size - 1 - column if mirrored else column
            y = min(max(top + (row + 0.5) / size * height, 0.5), tall - 0.5) - 0.5
            x = min(max(left + (across + 0.5) / size * width, 0.5), wide - 0.5) - 0.5
            y0, x0 = int(y), int(x)
            y1, x1 = min(y0 + 1, tall - 1), min(x0 + 1, wide - 1)
            upper = image[:, y0, x0] * (1 - x + x0) + image[:, y0, x1] * (x - x0)
            lower = image[:, y1, x0] * (1 - x + x0) + image[:, y1, x1] * (x - x0)
            found[:, row, column] = upper * (1 - y + y0) + lower * (y - y0)
    return found


def test_pixels_are_those_of_a_slow_loop():
    fields = {"rgb": picture()}
    boxes = random_boxes(torch.tensor([[HEIGHT, WIDTH]]).float().expand(BATCH, 2), seeded(1))
    mirrored = torch.tensor([True, False] * 3)
    found = resample(fields, boxes, size=11, mirrored=mirrored)["rgb"]
    assert found.dtype == torch.uint8
    for sample in range(BATCH):
        right = slowly(
            fields["rgb"][sample].numpy().astype(float),
            boxes[sample].tolist(),
            11,
            mirrored=bool(mirrored[sample]),
        )
        assert np.abs(found[sample].numpy() - right).max() <= 0.51  # rounded to whole grey levels


def test_pixels_are_those_of_torchvision():
    fields = {"rgb": picture()}
    whole = torch.tensor([[0.0, 0.0, HEIGHT, WIDTH]]).expand(BATCH, 4)
    found = resample(fields, whole, size=23)["rgb"]
    right = resized_crop(
        fields["rgb"], 0, 0, HEIGHT, WIDTH, [23, 23], InterpolationMode.BILINEAR, antialias=False
    )
    assert (found.int() - right.int()).abs().max() <= 1


def test_several_points_a_pixel_do_not_alias():
    """A picture at a third of its size: a pixel is the mean of nine, and not whatever lies in the middle of them."""
    rgb = picture(2)
    box = torch.tensor([[1.0, 2.0, 27.0, 27.0]]).expand(2, 4)
    one, three = (resample({"rgb": rgb}, box, size=9, smooth=points)["rgb"].float() for points in (1, 3))
    blocks = rgb[:, :, 1:28, 2:29].float().unflatten(3, (9, 3)).unflatten(2, (9, 3))
    assert (three - blocks.mean((3, 5))).abs().max() <= 0.51
    assert (one - blocks[:, :, :, 1, :, 1]).abs().max() <= 0.51


def test_boxes_are_drawn_as_torchvision_draws_them():
    """Mean and deviation of top, left, height and width over many draws, for an image that many boxes do not fit."""
    extent = torch.tensor([[40.0, 100.0]]).expand(20_000, 2)
    ours = random_boxes(extent, seeded(0), scale=(0.3, 1.0), ratio=4 / 3)
    image = torch.empty(3, 40, 100)
    draws = [RandomResizedCrop.get_params(image, [0.3, 1.0], [3 / 4, 4 / 3]) for _ in range(20_000)]
    theirs = torch.tensor(draws).float()
    torch.testing.assert_close(ours.mean(0), theirs.mean(0), rtol=0.02, atol=0.3)
    torch.testing.assert_close(ours.std(0), theirs.std(0), rtol=0.04, atol=0.3)


@pytest.mark.parametrize(("height", "width"), [(30, 30), (17, 64), (64, 17), (3, 90)])
def test_boxes_lie_inside(height, width):
    extent = torch.tensor([[float(height), float(width)]]).expand(500, 2)
    top, left, tall, wide = random_boxes(extent, seeded(3), scale=(0.05, 1.0)).unbind(1)
    assert min(top.min(), left.min()) >= 0
    assert min(tall.min(), wide.min()) >= 1
    assert (top + tall).max() <= height
    assert (left + wide).max() <= width


def test_where_no_box_fits_the_middle_is_taken():
    found = random_boxes(torch.tensor([[10.0, 100.0]]), seeded(0), scale=(1.0, 1.0))
    assert found.tolist() == [
        [0.0, 44.0, 10.0, 13.0]
    ]  # torchvision's choice: the widest shape that is allowed


def test_all_maps_move_alike():
    """The places in one map say where each pixel was taken; every other map must have been cut there."""
    label = torch.arange(HEIGHT * WIDTH).view(1, 1, HEIGHT, WIDTH).expand(BATCH, 1, HEIGHT, WIDTH)
    clip = places()[:, None].expand(BATCH, 4, 2, HEIGHT, WIDTH)
    fields = {"place": places(), "label": label, "clip": clip, "rgb": picture(), "age": torch.arange(BATCH)}
    found = random_resized_crop(fields, seeded(2), size=16)
    assert found["age"] is fields["age"]
    row, column = found["place"].unbind(1)
    assert torch.equal(found["label"][:, 0], ((row - 0.5) * WIDTH + column - 0.5).long())
    assert torch.equal(found["clip"], found["place"][:, None].expand(BATCH, 4, 2, 16, 16))
    mirrored = column[:, 0, 0] > column[:, 0, -1]
    assert 0 < mirrored.sum() < BATCH
    assert (row[:, 1:] >= row[:, :-1]).all()
    flipped = random_resized_crop(fields, seeded(2), size=16, flip=False)["place"][:, 1]
    assert (flipped[:, :, 1:] >= flipped[:, :, :-1]).all()


def test_vectors_turn_around_and_flow_is_counted_in_new_pixels():
    fields = {
        "normal": torch.tensor([0.6, 0.8, 0.0]).view(1, 3, 1, 1).expand(BATCH, 3, HEIGHT, WIDTH),
        "flow": torch.tensor([3.0, 5.0]).view(1, 1, 2, 1, 1).expand(BATCH, 4, 2, HEIGHT, WIDTH),
    }
    boxes = torch.tensor([[0.0, 0.0, 20.0, 40.0]]).expand(BATCH, 4)
    mirrored = torch.arange(BATCH) % 2 == 1
    found = resample(fields, boxes, size=10, mirrored=mirrored)
    assert found["normal"][:, :, 0, 0].tolist() == [
        pytest.approx([-0.6 if one else 0.6, 0.8, 0.0]) for one in mirrored.tolist()
    ]
    # 40 pixels across become 10, 20 down become 10
    assert found["flow"][0, 0, :, 0, 0].tolist() == pytest.approx([0.75, 2.5])
    assert found["flow"][1, 3, :, 9, 9].tolist() == pytest.approx([-0.75, 2.5])


def test_nothing_is_taken_from_beside_a_padded_sample():
    """Pictures of unequal size lie in the corner of a canvas of 255: a crop never sees the canvas."""
    rgb = torch.full((BATCH, 3, HEIGHT, WIDTH), 255, dtype=torch.uint8)
    extent = torch.stack([torch.arange(9, 9 + BATCH), torch.arange(20, 20 + 3 * BATCH, 3)], 1)
    for sample, (height, width) in enumerate(extent.tolist()):
        rgb[sample, :, :height, :width] = 10 * sample
    for cut in (
        lambda f: random_resized_crop(f, seeded(5), size=21, smooth=2),
        lambda f: centre_crop(f, size=21),
    ):
        found = cut({"rgb": rgb, "extent": extent})
        assert "extent" not in found
        for sample in range(BATCH):
            assert (found["rgb"][sample] == 10 * sample).all()
    with pytest.raises(ValueError, match="these pictures differ in size: use random_resized_crop"):
        crop_and_flip({"rgb": rgb, "extent": extent}, seeded(0), size=8)


def test_the_middle():
    """Of 37 x 53 the middle square is 7/8 of 37 high, around (18.5, 26.5)."""
    found = centre_crop({"rgb": picture(), "place": places()}, size=28)
    assert found["rgb"].shape == (BATCH, 3, 28, 28)
    side = 37 * 28 / 32
    first = found["place"][0, :, 0, 0]
    assert (first - torch.tensor([18.5 - side / 2, 26.5 - side / 2])).abs().max() <= 1.2
    middle = found["place"][0].flatten(1).mean(1)
    assert (middle - torch.tensor([18.5, 26.5])).abs().max() <= 0.5
    whole = centre_crop({"place": places()}, size=37, shorter=37)["place"][0]
    assert torch.equal(whole, places()[0, :, :, 8:45])


def test_the_same_seed_cuts_the_same_and_tables_pass():
    fields = {"rgb": picture(), "age": torch.arange(BATCH)}
    one, other = (random_resized_crop(fields, seeded(7), size=9)["rgb"] for _ in range(2))
    assert torch.equal(one, other)
    assert not torch.equal(one, random_resized_crop(fields, seeded(8), size=9)["rgb"])
    table = {"age": torch.arange(BATCH)}
    assert random_resized_crop(table, seeded(0), size=9) is table
    assert centre_crop(table, size=9) is table
