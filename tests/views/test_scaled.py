"""Robust ranges become [-1, 1], channel by channel."""

import pytest
import torch

from coview.views import scaled


def test_maps_by_channel():
    values = torch.rand(3, 2, 5, 4) * 10 + torch.tensor([0.0, 100.0]).view(2, 1, 1)
    out = scaled({"x": values}, name="x", low=(0.0, 90.0), high=(5.0, 130.0))
    slow = torch.stack([(values[:, 0] - 2.5) / 2.5, (values[:, 1] - 110) / 20], 1)
    torch.testing.assert_close(out, slow.clamp(-3, 3))
    assert out.max() <= 3


def test_tables_by_column_and_as_a_whole():
    values = torch.tensor([[0.0, 7.0, 50.0], [10.0, 7.0, float("nan")], [1e9, 7.0, float("inf")]])
    out = scaled({"x": values}, name="x", low=(0.0, 7.0, 0.0), high=(10.0, 7.0, 100.0))
    torch.testing.assert_close(out, torch.tensor([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [3.0, 0.0, 3.0]]))
    out = scaled({"x": values[:2, :2]}, name="x", low=0.0, high=10.0, limit=0.5)
    torch.testing.assert_close(out, torch.tensor([[-0.5, 0.4], [0.5, 0.4]]))


def test_bytes_and_unknown_names():
    out = scaled({"x": torch.tensor([[0, 255]], dtype=torch.uint8)}, name="x", low=0.0, high=255.0)
    assert out.tolist() == [[-1.0, 1.0]]
    with pytest.raises(ValueError, match="no field 'y'"):
        scaled({"x": out}, name="y", low=0.0, high=1.0)
