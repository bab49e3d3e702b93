"""Affine maps: each pixel from its place, all fields alike, vectors turned with them."""

import math

import numpy as np
import pytest
import torch

from coview.views.affine import OUTSIDE, after, of_boxes, warp
from coview.views.resample import resample

BATCH, HEIGHT, WIDTH, SIZE = 5, 23, 31, 13


def maps() -> torch.Tensor:
    """Maps that turn, lean, stretch, mirror and reach beyond the picture, [B 2 3]."""
    boxes = torch.tensor([[2.13, 3.07, 15.3, 19.71]]).expand(BATCH, 4)
    within = torch.tensor(
        [
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            [[0.8, -0.6, 0.0], [0.6, 0.8, 0.0]],
            [[1.0, 0.3, 0.3], [0.0, 1.0, 0.0]],
            [[1.0, 0.0, -0.9], [-0.25, 1.0, 1.3]],
            [[0.4, 0.1, 0.2], [-0.2, 2.9, 0.1]],
        ]
    )
    return after(of_boxes(boxes, torch.arange(BATCH) % 2 == 1), within)


def folded(place: float, limit: int, outside: str) -> float:
    """Back into the picture, a reflection at a time."""
    while outside == "reflection" and not 0 <= place <= limit:
        place = -place if place < 0 else 2 * limit - place
    return min(max(place, 0.5), limit - 0.5) if outside != "zeros" else place


def pixel(image: np.ndarray, row: int, column: int) -> np.ndarray:
    inside = 0 <= row < image.shape[1] and 0 <= column < image.shape[2]
    return image[:, row, column] if inside else np.zeros(len(image))


def slowly(image: np.ndarray, affine: np.ndarray, outside: str) -> tuple[np.ndarray, np.ndarray]:
    """Interpolated and nearest values, a pixel at a time."""
    smooth, near = np.zeros((2, len(image), SIZE, SIZE))
    for row in range(SIZE):
        for column in range(SIZE):
            share = np.array([2 * (column + 0.5) / SIZE - 1, 2 * (row + 0.5) / SIZE - 1, 1])
            x, y = affine @ share
            x, y = folded(x, image.shape[2], outside), folded(y, image.shape[1], outside)
            near[:, row, column] = pixel(image, math.floor(y), math.floor(x))
            left, top = math.floor(x - 0.5), math.floor(y - 0.5)
            for down in (0, 1):
                for across in (0, 1):
                    part = (1 - abs(y - 0.5 - top - down)) * (1 - abs(x - 0.5 - left - across))
                    smooth[:, row, column] += part * pixel(image, top + down, left + across)
    return smooth, near


@pytest.mark.parametrize("outside", OUTSIDE)
def test_pixels_are_those_of_a_slow_loop(outside):
    values = torch.rand(BATCH, 3, HEIGHT, WIDTH, dtype=torch.float32)
    affine = maps()
    found = warp({"rgb": values, "depth": values}, affine, size=SIZE, outside=outside)
    for sample in range(BATCH):
        smooth, near = slowly(values[sample].double().numpy(), affine[sample].double().numpy(), outside)
        assert np.abs(found["rgb"][sample].numpy() - smooth).max() < 1e-4
        assert (np.abs(found["depth"][sample].numpy() - near) > 1e-6).mean() < 0.01  # on the line between two


def test_a_box_is_the_crop_of_its_own():
    fields = {
        "rgb": torch.rand(BATCH, 3, HEIGHT, WIDTH),
        "depth": torch.rand(BATCH, 1, HEIGHT, WIDTH),
        "normal": torch.randn(BATCH, 3, HEIGHT, WIDTH),
        "flow": torch.randn(BATCH, 4, 2, HEIGHT, WIDTH),
        "age": torch.arange(BATCH),
    }
    boxes = torch.tensor([[1.0, 4.0, 17.0, 22.0], [0.0, 0.0, HEIGHT, WIDTH]])[torch.arange(BATCH) % 2]
    mirrored = torch.arange(BATCH) % 3 == 0
    found = warp(fields, of_boxes(boxes, mirrored), size=SIZE, smooth=2)
    wanted = resample(fields, boxes, size=SIZE, mirrored=mirrored, smooth=2)
    assert list(found) == list(wanted)
    for name, values in wanted.items():
        torch.testing.assert_close(found[name], values)


def test_maps_follow_each_other():
    """A place goes back through the last map first."""
    first, then = maps(), maps().flip(0) / 10
    place = torch.randn(BATCH, 2, dtype=torch.double)
    both = torch.cat([place, torch.ones(BATCH, 1)], 1)
    inner = torch.einsum("bij,bj->bi", then.double(), both)
    wanted = torch.einsum("bij,bj->bi", first.double(), torch.cat([inner, torch.ones(BATCH, 1)], 1))
    found = torch.einsum("bij,bj->bi", after(first, then).double(), both)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


def test_flow_leads_where_its_end_has_gone():
    """The end of each arrow, mapped on its own."""
    affine, arrow = maps(), torch.tensor([1.5, -0.7])
    found = warp({"flow": arrow.view(1, 1, 2, 1, 1).expand(BATCH, 4, 2, HEIGHT, WIDTH)}, affine, size=SIZE)
    for sample in range(BATCH):
        linear = affine[sample, :, :2].double().numpy() * 2 / SIZE
        wanted = np.linalg.solve(linear, arrow.double().numpy())
        assert found["flow"][sample, 3, :, 5, 7].tolist() == pytest.approx(wanted.tolist(), abs=1e-4)


def test_directions_turn_and_keep_their_length():
    """A turn by asin 0.6, in a mirror or not, turns normals back by it; a stretch and a shear alone do not."""
    affine = maps()
    square = after(
        of_boxes(torch.tensor([[0.0, 0.0, 20.0, 20.0]]).expand(2, 4), torch.tensor([False, True])),
        affine.new_tensor([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0]]).expand(2, 2, 3),
    )
    normal = torch.tensor([0.48, 0.6, 0.64])
    fields = {"normal": normal.view(1, 3, 1, 1).expand(BATCH, 3, HEIGHT, WIDTH)}
    turned = warp({"normal": fields["normal"][:2]}, square, size=SIZE)["normal"][:, :, 2, 9]
    across, down = 0.8 * 0.48 + 0.6 * 0.6, -0.6 * 0.48 + 0.8 * 0.6
    assert turned[0].tolist() == pytest.approx([across, down, 0.64], abs=1e-5)
    across, down = -0.8 * 0.48 + 0.6 * 0.6, 0.6 * 0.48 + 0.8 * 0.6
    assert turned[1].tolist() == pytest.approx([across, down, 0.64], abs=1e-5)
    found = warp(fields, affine, size=SIZE)["normal"]
    torch.testing.assert_close(found.square().sum(1), torch.ones(BATCH, SIZE, SIZE))
    torch.testing.assert_close(found[0], fields["normal"][0, :, :SIZE, :SIZE])
    wind = warp({"wind": fields["normal"]}, affine, size=SIZE, vectors=("wind",))["wind"]
    assert torch.equal(wind, found)


def test_nothing_is_taken_from_beside_a_padded_sample():
    rgb = torch.full((BATCH, 3, HEIGHT, WIDTH), 255, dtype=torch.uint8)
    extent = torch.stack([torch.arange(9, 9 + BATCH), torch.arange(14, 14 + 3 * BATCH, 3)], 1)
    for sample, (height, width) in enumerate(extent.tolist()):
        rgb[sample, :, :height, :width] = 10 * sample
    for outside in OUTSIDE:
        found = warp({"rgb": rgb, "extent": extent}, maps(), size=SIZE, outside=outside)
        assert list(found) == ["rgb"]
        for sample in range(BATCH):
            assert found["rgb"][sample].max() <= 10 * sample
            if outside != "zeros":
                assert found["rgb"][sample].min() == 10 * sample


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match=r"outside must be one of .* got 'reflect' \(did you mean"):
        warp({"rgb": torch.zeros(BATCH, 3, HEIGHT, WIDTH)}, maps(), size=SIZE, outside="reflect")
    table = {"age": torch.arange(BATCH)}
    assert warp(table, maps(), size=SIZE) is table
