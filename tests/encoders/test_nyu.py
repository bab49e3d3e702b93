"""The encoder of NYU against the table of the paper, and cells of it."""

import pytest
import torch

from coview.encoders import NYUEncoder, with_cells

TABLE = {"conv1": (64, 64), "conv2": (128, 16), "conv3": (256, 8), "conv4": (256, 8), "conv5": (512, 4)}


def test_the_table_of_the_paper():
    found = NYUEncoder(3).features(torch.randn(2, 3, 128, 128))
    maps = {name: (values.shape[1], values.shape[2]) for name, values in found.items() if values.ndim == 4}
    assert maps == TABLE
    assert (found["fc6"].shape, found["embedding"].shape) == ((2, 512), (2, 256))
    assert list(found) == [*TABLE, "fc6", "embedding"]


def test_parameters_by_hand():
    convolutions = 64 * 2 * 64 + 128 * 64 * 16 + 256 * 128 * 16 + 256 * 256 * 9 + 512 * 256 * 16
    norms = 2 * (64 + 128 + 256 + 256 + 512 + 512)
    full = 512 * 512 * 16 + (512 + 1) * 256
    assert sum(one.numel() for one in NYUEncoder(2).parameters()) == convolutions + norms + full


@pytest.mark.parametrize(("height", "width"), [(32, 32), (64, 64), (96, 72), (120, 160), (61, 47)])
def test_any_size(height, width):
    encoder = NYUEncoder(1, dim=7, width=0.1)
    assert encoder(torch.randn(3, 1, height, width)).shape == (3, 7)


def test_what_is_too_small_is_refused():
    with pytest.raises(ValueError, match="at least 32 x 32, got 31 x 40: take larger crops"):
        NYUEncoder(1, dim=7, width=0.1)(torch.randn(2, 1, 31, 40))


def test_cells_of_early_maps():
    encoder = with_cells(
        lambda: NYUEncoder(2, dim=11, width=0.1), layers=("conv2", "conv3"), dim=11, most=64, side=128
    )
    said = encoder(torch.randn(3, 2, 128, 128))
    assert {part: tuple(values.shape) for part, values in said.items()} == {
        "": (3, 11),
        "conv2": (3, 64, 11),
        "conv3": (3, 64, 11),
    }
