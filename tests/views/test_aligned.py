"""Views stay aligned: a marker painted in every field is found at the same place of every view."""

from functools import partial

import pytest
import torch

from coview.types import Sample
from coview.views import chroma, crop_and_flip, cut, depth, lightness, normal, random_resized_crop, segments

VIEWS = {
    "L": lightness,
    "ab": chroma,
    "depth": depth,
    "normal": normal,
    "segment": partial(segments, classes=7),
}
COUNT, HEIGHT, WIDTH, SIZE = 24, 33, 41, 20


def painted() -> tuple[Sample, torch.Tensor]:
    """Even frames, each with a blot of five pixels that all fields share, and where its middle is."""
    fields = {
        "rgb": torch.full((COUNT, 3, HEIGHT, WIDTH), 128, dtype=torch.uint8),
        "depth": torch.full((COUNT, 1, HEIGHT, WIDTH), 3.0, dtype=torch.float16),
        "normal": torch.zeros(COUNT, 3, HEIGHT, WIDTH, dtype=torch.int8),
        "segment": torch.ones(COUNT, 1, HEIGHT, WIDTH, dtype=torch.uint8),
    }
    fields["normal"][:, 2] = -127
    marks = {"rgb": (250, 200, 0), "depth": (9.0,), "normal": (100, 0, -78), "segment": (6,)}
    places = torch.stack([torch.randint(2, HEIGHT - 2, (COUNT,)), torch.randint(2, WIDTH - 2, (COUNT,))], 1)
    for row, (down, across) in enumerate(places.tolist()):
        for name, values in marks.items():
            window = fields[name][row, :, down - 2 : down + 3, across - 2 : across + 3]
            window[:] = torch.tensor(values, dtype=window.dtype).view(-1, 1, 1)
    return Sample(fields, torch.arange(COUNT)), places


def middle(view: torch.Tensor) -> tuple[float, float] | None:
    """Where a view differs most from what is usual in it, on the mean; None where nothing does."""
    apart = (view - view.flatten(1).median(1).values.view(-1, 1, 1)).abs().sum(0)
    if apart.max() < 0.1:
        return None
    down, across = (apart > apart.max() / 2).nonzero().float().mean(0).tolist()
    return down, across


@pytest.mark.parametrize(
    ("augment", "tolerance"),
    [
        (partial(crop_and_flip, size=SIZE, padding=0), 0.0),
        (partial(crop_and_flip, size=SIZE, padding=3), 0.0),
        (partial(random_resized_crop, size=SIZE, scale=(0.3, 1.0)), 0.6),
    ],
)
def test_a_marker_is_at_the_same_place_in_every_view(augment, tolerance):
    sample, _ = painted()
    batch = cut(sample, VIEWS, augment, torch.Generator().manual_seed(1))
    found = 0
    for row in range(COUNT):
        places = {name: middle(view[row]) for name, view in batch.views.items()}
        there = [place for place in places.values() if place is not None]
        if len(there) < len(places):
            assert not there or tolerance  # at a border a resampled blot may fade away
            continue
        found += 1
        for place in there[1:]:
            assert place == pytest.approx(there[0], abs=tolerance)
    assert found >= 5


def test_a_mirror_turns_normals_around():
    sample, _ = painted()
    mirrored = partial(crop_and_flip, size=HEIGHT, padding=0)
    batch = cut(sample, VIEWS, mirrored, torch.Generator().manual_seed(2))
    sides = set()
    for row in range(COUNT):
        view = batch.views["normal"][row, 0]
        if view.abs().max() > 0.5:
            sides.add(round(float(view.flatten()[view.abs().argmax()]), 2))
    assert sides == {-0.79, 0.79}
