"""Colour: L and ab against scikit-image, and their range."""

import numpy as np
import pytest
import torch
from skimage.color import rgb2lab

from coview.views import chroma, lightness, rgb_to_lab

LOWEST, HIGHEST = (0, -86.183, -107.857), (100, 98.233, 94.478)  # of L, a and b, as FIDELITY names them
MIDDLE, REACH = (50, 6.025, -6.6895), (50, 92.208, 101.1675)


def grid() -> torch.Tensor:
    """Every third level of each channel, 0 and 255 among them: 636,056 colours, as one picture [1 3 H W]."""
    level = torch.arange(0, 256, 3)
    red, green, blue = torch.meshgrid(level, level, level, indexing="ij")
    return torch.stack([red, green, blue]).reshape(1, 3, 86, -1).to(torch.uint8)


def by_scikit(rgb: torch.Tensor) -> np.ndarray:
    """Lab of [B 3 ...], in float64."""
    return np.moveaxis(rgb2lab(np.moveaxis(rgb.numpy(), 1, -1)), -1, 1)


def test_all_colours_are_those_of_scikit_image():
    rgb = grid()
    wanted = by_scikit(rgb)
    assert np.abs(rgb_to_lab(rgb).numpy() - wanted).max() < 1e-4
    for row, (low, high) in enumerate(zip(LOWEST, HIGHEST, strict=True)):
        assert wanted[:, row].min() == pytest.approx(low, abs=1e-3)
        assert wanted[:, row].max() == pytest.approx(high, abs=1e-3)


def test_every_dark_level_of_grey():
    """Where the curves of sRGB and of Lab change their form."""
    rgb = torch.arange(256, dtype=torch.uint8).expand(1, 3, 1, 256)
    assert np.abs(rgb_to_lab(rgb).numpy() - by_scikit(rgb)).max() < 1e-4


def test_views_are_scaled_by_the_constants_and_reach_them():
    rgb = grid()
    wanted = by_scikit(rgb)
    found = torch.cat([lightness({"rgb": rgb}), chroma({"rgb": rgb})], 1)
    assert found.dtype == torch.float32
    for row, (middle, reach) in enumerate(zip(MIDDLE, REACH, strict=True)):
        assert np.abs(found[:, row].numpy() - (wanted[:, row] - middle) / reach).max() < 1e-5
        assert found[:, row].min().item() == pytest.approx(-1, abs=1e-4)
        assert found[:, row].max().item() == pytest.approx(1, abs=1e-4)


def test_pictures_and_clips_keep_their_shape():
    generator = torch.Generator().manual_seed(1)
    for shape in ((4, 3, 5, 7), (4, 6, 3, 5, 7)):
        rgb = torch.randint(256, shape, generator=generator, dtype=torch.uint8)
        assert lightness({"rgb": rgb}).shape == (*shape[:-3], 1, 5, 7)
        assert chroma({"rgb": rgb}).shape == (*shape[:-3], 2, 5, 7)
        assert rgb_to_lab(rgb).shape == shape


def test_a_clip_is_its_frames():
    for frames in (3, 4):  # as many frames as colours must not mix them up
        rgb = torch.randint(256, (2, frames, 3, 5, 7), dtype=torch.uint8)
        for view in (lightness, chroma):
            clip = view({"rgb": rgb})
            for frame in range(frames):
                torch.testing.assert_close(clip[:, frame], view({"rgb": rgb[:, frame]}))


def test_other_fields_do_not_matter():
    rgb = torch.randint(256, (2, 3, 4, 5), dtype=torch.uint8)
    assert torch.equal(lightness({"rgb": rgb, "depth": torch.zeros(2, 1, 4, 5)}), lightness({"rgb": rgb}))
