"""Views of geometry."""

import pytest
import torch

from coview.views import depth, normal


@pytest.mark.parametrize("far", [10.0, 4.0])
def test_depth_is_scaled_between_here_and_far(far):
    metres = torch.tensor([0.0, 0.1, 1.0, 3.9, 4.0, 7.5, 10.0, 12.0, 80.0, 2.0]).view(1, 1, 2, 5)
    found = depth({"depth": metres}, far=far)
    for row in range(2):
        for column in range(5):
            wanted = 2 * min(metres[0, 0, row, column].item(), far) / far - 1
            assert found[0, 0, row, column].item() == pytest.approx(wanted, abs=1e-6)
    assert found.min() == -1  # a hole
    assert found.max() == 1


def test_far_is_ten_metres_and_what_came_stays():
    metres = torch.full((3, 1, 4, 5), 5.0)
    assert torch.equal(depth({"depth": metres}), torch.zeros(3, 1, 4, 5))
    assert (metres == 5).all()


def test_normals_are_as_they_are():
    unit = torch.nn.functional.normalize(torch.randn(4, 3, 5, 6), dim=1)
    assert torch.equal(normal({"normal": unit}), unit)


def test_clips():
    assert depth({"depth": torch.rand(2, 6, 1, 4, 5)}).shape == (2, 6, 1, 4, 5)
    assert normal({"normal": torch.rand(2, 6, 3, 4, 5)}).shape == (2, 6, 3, 4, 5)
