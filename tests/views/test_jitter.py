"""Colour jitter: torchvision's changes in each sample's own order, from the given generator alone."""

from itertools import permutations

import pytest
import torch
from torchvision.transforms import functional as torchvision

from coview.views import colour_jitter
from coview.views.jitter import in_order
from coview.views.tone import levels, pixels

BATCH, HEIGHT, WIDTH = 12, 13, 17
CHANGES = (torchvision.adjust_brightness, torchvision.adjust_contrast, torchvision.adjust_saturation)


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def pictures(batch: int = BATCH) -> torch.Tensor:
    return torch.randint(256, (batch, 3, HEIGHT, WIDTH), dtype=torch.uint8)


def test_it_is_torchvisions_in_every_order():
    rgb = pictures()
    order = torch.tensor(list(permutations(range(3)))).repeat(2, 1).T
    factors = 0.4 + 1.4 * torch.rand(3, BATCH)
    found = pixels(in_order(levels(rgb), factors, order))
    assert len({tuple(one.tolist()) for one in order.T}) == 6
    for sample in range(BATCH):
        wanted = rgb[sample]
        for kind in order[:, sample].tolist():
            wanted = CHANGES[kind](wanted, float(factors[kind, sample]))
        # torchvision cuts fractions off after each of the three, and those of the grey inside
        assert (found[sample].int() - wanted.int()).abs().max() <= 4
        assert (found[sample].float() - wanted.float()).mean().abs() < 2


def test_each_change_alone_is_torchvisions():
    rgb = pictures()
    order = torch.arange(3)[:, None].expand(3, BATCH)
    for kind, change in enumerate(CHANGES):
        factors = torch.ones(3, BATCH)
        factors[kind] = torch.linspace(0, 2.2, BATCH)
        found = pixels(in_order(levels(rgb), factors, order))
        wanted = [change(one, factor) for one, factor in zip(rgb, factors[kind].tolist(), strict=True)]
        assert (found.int() - torch.stack(wanted).int()).abs().max() <= 2


def test_factors_are_drawn_from_their_ranges():
    """A grey picture tells its brightness factor, and one of two levels its contrast."""
    many = 4000
    rgb = torch.full((many, 3, 2, 2), 100, dtype=torch.uint8)
    options = {"brightness": 0.0, "contrast": 0.0, "saturation": 0.0, "hue": 0.0}
    found = colour_jitter({"rgb": rgb}, seeded(0), **options | {"brightness": 0.4})["rgb"][:, 0, 0, 0].float()
    assert (found == 100).float().mean() > 0.19  # a fifth is left alone, and a few get a factor of about 1
    assert (found == 100).float().mean() < 0.23
    assert found.amin() == 60
    assert found.amax() == 140
    torch.testing.assert_close(found[found != 100].std(), torch.tensor(80 / 12**0.5), rtol=0.03, atol=0)
    rgb[..., 0] = 50
    found = colour_jitter({"rgb": rgb}, seeded(1), **options | {"contrast": 0.5}, share=1.0)["rgb"].float()
    spread = (found[..., 1] - found[..., 0])[:, 0, 0] / 50
    assert 0.48 <= spread.min() < 0.52
    assert 1.48 < spread.max() <= 1.52


def test_chroma_keeps_its_meaning():
    """With the defaults red stays the largest channel of what is red, and nothing becomes grey."""
    rgb = torch.tensor([190, 70, 60], dtype=torch.uint8).view(1, 3, 1, 1).expand(500, 3, 4, 4)
    found = colour_jitter({"rgb": rgb}, seeded(0))["rgb"].int()
    assert (found[:, 0] > found[:, 1:].amax(1) + 30).all()
    assert found.amax(1).float().std() > 10


def test_a_part_may_be_greyed():
    rgb = pictures(3000)
    found = colour_jitter({"rgb": rgb}, seeded(0), share=0.0, greyed=0.3)["rgb"]
    flat = (found == found[:, :1]).all(1).all(2).all(1)
    assert flat.float().mean() == pytest.approx(0.3, abs=0.03)
    assert torch.equal(found[~flat], rgb[~flat])
    wanted = torchvision.rgb_to_grayscale(rgb[flat], num_output_channels=3)
    assert (found[flat].int() - wanted.int()).abs().max() <= 1


def test_only_the_picture_changes_and_only_by_its_generator():
    fields = {"rgb": pictures(), "depth": torch.rand(BATCH, 1, HEIGHT, WIDTH), "age": torch.arange(BATCH)}
    before = torch.get_rng_state()
    one, other = (colour_jitter(fields, seeded(3)) for _ in range(2))
    assert torch.equal(one["rgb"], other["rgb"])
    assert not torch.equal(one["rgb"], colour_jitter(fields, seeded(4))["rgb"])
    assert one["depth"] is fields["depth"]
    assert list(one) == list(fields)
    assert torch.equal(torch.get_rng_state(), before)
    without = {"depth": fields["depth"]}
    assert colour_jitter(without, seeded(0)) is without


def test_it_never_looks_at_the_data():
    """On the meta device there is nothing to look at; so on a GPU nothing waits."""
    found = colour_jitter({"rgb": pictures().to("meta")}, seeded(0))
    assert found["rgb"].shape == (BATCH, 3, HEIGHT, WIDTH)
