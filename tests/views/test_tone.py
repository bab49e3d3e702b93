"""Light and colour: each change on each picture of a batch is torchvision's on that picture alone."""

import pytest
import torch
from torchvision.transforms import functional as torchvision

from coview.views.tone import hue_turned, levels, pixels, sharpened, stretched

BATCH, HEIGHT, WIDTH = 7, 19, 22
STRENGTH = torch.tensor([1.0, 0.0, 0.1, 0.55, 1.3, 1.9, 2.5])


def pictures() -> torch.Tensor:
    """Blurred noise of little contrast, one that is flat, and one of which a channel is."""
    noise = torch.nn.functional.avg_pool2d(torch.rand(BATCH, 3, HEIGHT, WIDTH), 3, 1, 1)
    rgb = (40 + 200 * noise).to(torch.uint8)
    rgb[1] = 77
    rgb[2, 1] = 130
    return rgb


def farthest(found: torch.Tensor, wanted: list[torch.Tensor]) -> int:
    return int((found.int() - torch.stack(wanted).int()).abs().max())


def test_sharpness():
    rgb = pictures()
    found = pixels(sharpened(levels(rgb), STRENGTH))
    wanted = [torchvision.adjust_sharpness(*pair) for pair in zip(rgb, STRENGTH.tolist(), strict=True)]
    assert farthest(found, wanted) <= 1
    assert torch.equal(found[0], rgb[0])
    assert not torch.equal(found[5], rgb[5])
    tiny = rgb[..., :2]
    assert torch.equal(pixels(sharpened(levels(tiny), STRENGTH)), tiny)


def test_autocontrast():
    rgb = pictures()
    chosen = torch.tensor([True, True, True, False, True, False, True])
    found = pixels(stretched(levels(rgb), chosen))
    wanted = [torchvision.autocontrast(one) if take else one for one, take in zip(rgb, chosen, strict=True)]
    assert farthest(found, wanted) <= 1
    assert torch.equal(found[1], rgb[1])  # flat
    assert found[0].amin((1, 2)).tolist() == [0, 0, 0]
    assert found[0].amax((1, 2)).tolist() == [255, 255, 255]


def test_hue():
    rgb = torch.randint(256, (BATCH, 3, HEIGHT, WIDTH), dtype=torch.uint8)
    rgb[1] = 77  # grey has no hue
    rgb[2] //= 16
    turn = torch.tensor([0.0, 0.3, 0.02, -0.02, 0.5, -0.5, 0.17])
    found = pixels(hue_turned(levels(rgb), turn))
    wanted = [torchvision.adjust_hue(one, part) for one, part in zip(rgb, turn.tolist(), strict=True)]
    assert farthest(found, wanted) <= 1
    assert torch.equal(found[:2], rgb[:2])


@pytest.mark.parametrize("change", [sharpened, stretched, hue_turned])
def test_each_frame_of_a_clip_is_a_picture(change):
    rgb = torch.randint(256, (2, 3, 3, HEIGHT, WIDTH), dtype=torch.uint8)
    strength = torch.tensor([True, False]) if change is stretched else torch.tensor([0.3, 0.8])
    found = change(levels(rgb), strength)
    for frame in range(3):
        torch.testing.assert_close(found[:, frame], change(levels(rgb[:, frame]), strength))
