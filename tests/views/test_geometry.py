"""Views of geometry."""

import pytest
import torch

from coview.views import depth, normal, segments


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
    assert depth({"depth": torch.rand(2, 6, 1, 4, 5)}, mask=True).shape == (2, 6, 2, 4, 5)
    assert segments({"segment": torch.ones(2, 6, 1, 4, 5)}, classes=3, apart=True).shape == (2, 6, 3, 4, 5)


def test_as_few_bytes():
    unit = torch.nn.functional.normalize(torch.randn(4, 3, 5, 6), dim=1)
    assert (normal({"normal": (unit * 127).round().to(torch.int8)}) - unit).abs().max() < 0.005
    metres = torch.rand(4, 1, 5, 6).half()
    assert depth({"depth": metres}).dtype == torch.float32


def test_holes_have_a_value_that_nothing_measured_has_or_a_mask():
    metres = torch.tensor([0.0, 5.0, 0.5, 80.0]).view(1, 1, 2, 2)
    assert depth({"depth": metres}).flatten().tolist() == pytest.approx([-1, 0, -0.9, 1])
    masked = depth({"depth": metres}, mask=True)
    assert masked[0, 0].flatten().tolist() == pytest.approx([0, 0, -0.9, 1])
    assert masked[0, 1].flatten().tolist() == [0, 1, 1, 1]
    turned = torch.zeros(1, 3, 2, 2)
    turned[0, 1, 0, 1] = -1
    assert normal({"normal": turned}, mask=True)[0, 3].tolist() == [[0, 1], [0, 0]]
    assert torch.equal(normal({"normal": turned}, mask=True)[:, :3], turned)


def test_segments_in_one_channel_or_apart():
    number = torch.tensor([0, 2, 4, 1, 2, 2], dtype=torch.uint8).view(1, 1, 2, 3)
    assert segments({"segment": number}, classes=4).flatten().tolist() == [-1, 0, 1, -0.5, 0, 0]
    apart = segments({"segment": number}, classes=4, apart=True)
    assert apart.shape == (1, 4, 2, 3)
    assert apart.mean((2, 3))[0].tolist() == pytest.approx([1 / 6, 3 / 6, 0, 1 / 6])
