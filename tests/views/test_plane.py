"""Normals derived from depth: planes of which the answer is known, rendered rooms, holes and coarse steps."""

import pytest
import torch
from torch.nn import functional

from coview.data.scenes import render
from coview.views import normals

CAMERA = (47.0, 53.0, 21.5, 17.0)
HEIGHT, WIDTH = 36, 44


def plane(normal: torch.Tensor, distance: float) -> torch.Tensor:
    """The depth of a plane, ray by ray."""
    fx, fy, cx, cy = CAMERA
    depth = torch.zeros(1, 1, HEIGHT, WIDTH)
    for row in range(HEIGHT):
        for column in range(WIDTH):
            ray = torch.tensor([(column + 0.5 - cx) / fx, (row + 0.5 - cy) / fy, 1.0])
            depth[0, 0, row, column] = -distance / (normal @ ray)
    return depth


def apart(found: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """Degrees between unit vectors, along dimension 1."""
    return 2 * ((found - truth).square().sum(1).sqrt() / 2).clamp(max=1).asin().rad2deg()


def rooms(count: int = 3, size: int = 128) -> tuple[torch.Tensor, torch.Tensor, list[tuple[float, ...]]]:
    """True depth and normals, and the cameras."""
    found = render(torch.arange(count), size=size, noise=False)
    cameras = [(one[0, 0], one[1, 1], one[0, 2], one[1, 2]) for one in found["intrinsics"]]
    return found["depth"], found["normal"], [tuple(map(float, one)) for one in cameras]


def away_from_edges(depth: torch.Tensor, margin: int) -> torch.Tensor:
    """Pixels around which the inverse depth is straight: surfaces neither bend nor end."""
    inverse = 1 / depth
    edge = torch.zeros_like(depth)
    for axis in (2, 3):
        bend = inverse.roll(1, axis) + inverse.roll(-1, axis) - 2 * inverse
        edge = edge.maximum((bend.abs() * depth > 0.002).float())
    return functional.max_pool2d(edge, 2 * margin + 1, 1, margin)[:, 0] == 0


@pytest.mark.parametrize("direction", [(0, 0, -1), (0.3, -0.2, -1), (-0.7, 0.1, -0.8), (0.02, -0.95, -0.6)])
def test_a_plane(direction):
    truth = functional.normalize(torch.tensor(direction, dtype=torch.float32), dim=0)
    found, valid = normals(plane(truth, 2.5), CAMERA)
    assert found.shape == (1, 3, HEIGHT, WIDTH)
    assert valid[:, :, 2:-2, 2:-2].all()
    assert apart(found, truth.view(1, 3, 1, 1))[valid[:, 0]].max() < 0.2


def test_rendered_rooms_away_from_edges():
    depth, truth, cameras = rooms()
    for row, camera in enumerate(cameras):
        found, valid = normals(depth[row : row + 1], camera)
        one, true = depth[row : row + 1], truth[row : row + 1]
        there = valid[:, 0] & away_from_edges(one, 3)
        assert there.float().mean() > 0.4
        assert valid.float().mean() > 0.85
        assert apart(found, true)[there].max() < 3


def test_coarse_depth_is_smoothed():
    depth, truth, cameras = rooms(1)
    step = 10 / 255
    coarse = ((depth / step).floor() + 0.5) * step
    there = away_from_edges(depth, 3)
    errors = {}
    for told in (0.0, step):
        found, valid = normals(coarse, cameras[0], step=told, radius=4)
        assert (valid[:, 0] & there).sum() > 0.8 * there.sum() or not told
        errors[told] = apart(found, truth)[there].median()  # what is not valid is far off
    assert errors[step] < 2.5
    assert errors[step] < 0.8 * errors[0.0]


def test_holes_are_left_out():
    truth = functional.normalize(torch.tensor([0.4, -0.3, -1.0]), dim=0)
    depth = plane(truth, 2.0)
    hole = torch.rand(1, 1, HEIGHT, WIDTH) < 0.3
    hole[:, :, 20:27, 5:11] = True
    found, valid = normals(depth.masked_fill(hole, 0.0), CAMERA)
    assert not (valid & hole).any()
    assert (valid & ~hole).sum() > 0.9 * (~hole).sum()
    assert apart(found, truth.view(1, 3, 1, 1))[valid[:, 0]].max() < 0.2
    assert (found * ~valid == 0).all()


def test_where_nothing_is_known_nothing_is_valid():
    line = torch.zeros(2, 1, 15, 17)
    line[1, :, 7] = 3.0  # a line of points lies on many planes
    found, valid = normals(line, (20.0, 20.0, 8.0, 7.0))
    assert not valid.any()
    assert (found == 0).all()


def test_samples_do_not_see_each_other():
    depth, _, cameras = rooms(3, size=40)
    depth = depth.half()  # as it is kept
    together, valid = normals(depth, cameras[0])
    for row in range(3):
        alone, there = normals(depth[row : row + 1], cameras[0])
        assert torch.allclose(together[row], alone[0], atol=1e-5)
        assert torch.equal(valid[row], there[0])
