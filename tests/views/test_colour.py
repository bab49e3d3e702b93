"""Colour: every space against scikit-image, its range, and any of its channels as a view."""

from dataclasses import replace

import numpy as np
import pytest
import skimage.color
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from coview.recipes.demo import demo_two
from coview.training import describe
from coview.training.recipe import override
from coview.views import channels_of, chroma, colour, depth, lightness, rgb_to_lab, split
from coview.views.colour.spaces import SPACES

SCALES = {  # middle and reach of each channel
    "Lab": ((50, 6.025, -6.6895), (50, 92.208, 101.1675)),
    "YCbCr": ((116.151, 121.080, 132.342), (109.5, 111.855, 111.964)),
    "YDbDr": ((0.457, -0.082, -0.052), (0.5, 1.331, 1.333)),
    "YUV": ((0.5, 0, 0), (0.5, 0.436, 0.615)),
    "YIQ": ((0.5, 0, 0), (0.5, 0.596, 0.523)),
    "YPbPr": ((0.5, 0, 0), (0.5, 0.5, 0.5)),
    "Luv": ((50, 45.9683, -13.3494), (50, 129.0462, 120.7485)),
    "HSV": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
    "HED": ((1.878 / 2, 1.135 / 2, 1.574 / 2), (1.878 / 2, 1.135 / 2, 1.574 / 2)),
    "XYZ": ((0.95 / 2, 1 / 2, 1.089 / 2), (0.95 / 2, 1 / 2, 1.089 / 2)),
    "RGB": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
}
CUTS = {
    "Lab": ("L", "ab"),
    "YCbCr": ("Y", "CbCr"),
    "YDbDr": ("Y", "DbDr"),
    "YUV": ("Y", "UV"),
    "YIQ": ("Y", "IQ"),
    "YPbPr": ("Y", "PbPr"),
    "Luv": ("L", "uv"),
    "HSV": ("H", "SV"),
    "HED": ("H", "ED"),
    "XYZ": ("X", "YZ"),
    "RGB": ("R", "GB"),
}
PHOTOGRAPHS = ("YCbCr", "YDbDr")  # centred on their average, not on what is possible

every_space = pytest.mark.parametrize("space", SCALES)


def cube(*levels: torch.Tensor) -> torch.Tensor:
    """All colours of these levels of red, green and blue, [3 N]."""
    return torch.stack([level.flatten() for level in torch.meshgrid(*levels, indexing="ij")])


def colours() -> torch.Tensor:
    """As one picture [1 3 1 N]: a grid with the corners, each grey, the darkest, the cube's edges and random ones."""
    every, ends = torch.arange(256), torch.tensor([0, 255])
    fifth, dark = torch.arange(0, 256, 5), torch.arange(13)
    edges = [cube(*(every if axis == along else ends for axis in range(3))) for along in range(3)]
    found = [cube(fifth, fifth, fifth), every.expand(3, 256), cube(dark, dark, dark), *edges]
    found.append(torch.randint(256, (3, 9000)))
    return torch.cat(found, 1).to(torch.uint8)[None, :, None]


def random_rgb(*shape: int) -> torch.Tensor:
    return torch.randint(256, shape, dtype=torch.uint8)


def by_scikit(rgb: torch.Tensor, space: str) -> np.ndarray:
    """The channels of [B 3 H W], in float64."""
    picture = np.moveaxis(rgb.numpy(), 1, -1)
    converted = picture / 255.0 if space == "RGB" else getattr(skimage.color, f"rgb2{space.lower()}")(picture)
    assert converted.dtype == np.float64
    return np.moveaxis(converted, -1, 1)


def scaled_by_scikit(rgb: torch.Tensor, space: str) -> np.ndarray:
    middle, reach = (np.reshape(part, (3, 1, 1)) for part in SCALES[space])
    return (by_scikit(rgb, space) - middle) / reach


def test_these_are_all_spaces():
    assert list(SPACES) == list(SCALES) == list(CUTS)


@every_space
def test_colours_are_those_of_scikit_image(space):
    rgb = colours()
    found = torch.stack(SPACES[space].convert(rgb, (0, 1, 2)), 1)
    assert np.abs(found.numpy() - by_scikit(rgb, space)).max() < 1e-4
    view = colour({"rgb": rgb}, space=space, channels=(0, 1, 2))
    assert view.dtype == torch.float32
    assert np.abs(view.numpy() - scaled_by_scikit(rgb, space)).max() < 2e-6


@every_space
def test_each_pixel_is_converted_where_it_is(space):
    rgb = random_rgb(4, 3, 5, 7)
    before = rgb.clone()
    view = colour({"rgb": rgb, "depth": torch.zeros(4, 1, 5, 7)}, space=space, channels=(0, 1, 2))
    assert view.shape == (4, 3, 5, 7)
    assert np.abs(view.numpy() - scaled_by_scikit(rgb, space)).max() < 2e-6
    assert torch.equal(rgb, before)


@every_space
def test_a_grey_picture_is_finite(space):
    rgb = torch.tensor([0, 1, 128, 254, 255], dtype=torch.uint8).expand(2, 3, 1, 5)
    view = colour({"rgb": rgb}, space=space, channels=(0, 1, 2))
    assert view.isfinite().all()
    assert np.abs(view.numpy() - scaled_by_scikit(rgb, space)).max() < 2e-6


@every_space
def test_all_colours_span_from_minus_one_to_one(space):
    """The constants are rounded to three digits. Hue ends one step before its start."""
    view = colour({"rgb": colours()}, space=space, channels=(0, 1, 2))[0].flatten(1)
    lowest, highest = view.amin(1), view.amax(1)
    ends = torch.ones(3)
    if space in PHOTOGRAPHS:
        assert lowest.min() > -1.04
        assert highest.max() < 1.09
        assert (highest - lowest).tolist() == pytest.approx([2, 2, 2], abs=4e-3)
    else:
        torch.testing.assert_close(lowest, -ends, atol=1.5e-3, rtol=0)
        torch.testing.assert_close(highest, ends, atol=1.5e-3, rtol=0)


def test_luv_is_scaled_by_its_extremes():
    found = by_scikit(colours(), "Luv")[0, :, 0]
    lowest, highest = found.min(1), found.max(1)
    assert SPACES["Luv"].middle == pytest.approx((highest + lowest) / 2, abs=1e-4)
    assert SPACES["Luv"].reach == pytest.approx((highest - lowest) / 2, abs=1e-4)


@every_space
@pytest.mark.parametrize("channels", [0, 1, 2, (0,), (2,), (1, 2), (2, 0), (0, 2, 1), [0, 1], (1, 1)])
def test_any_channels_in_any_order(space, channels):
    rgb = random_rgb(2, 3, 5, 7)
    whole = colour({"rgb": rgb}, space=space, channels=(0, 1, 2))
    found = colour({"rgb": rgb}, space=space, channels=channels)
    assert torch.equal(found, whole[:, [channels] if isinstance(channels, int) else list(channels)])


@every_space
def test_split_names_two_views(space):
    views = split(space)
    first, rest = CUTS[space]
    assert list(views) == [first, rest]
    rgb = random_rgb(2, 3, 5, 7)
    whole = colour({"rgb": rgb}, space=space, channels=(0, 1, 2))
    assert torch.equal(views[first]({"rgb": rgb}), whole[:, :1])
    assert torch.equal(views[rest]({"rgb": rgb}), whole[:, 1:])
    assert channels_of(views) == {first: 1, rest: 2}


def test_channels_are_counted_for_every_view_of_colour():
    views = {"L": lightness, "ab": chroma, "all": lambda fields: fields["rgb"].float()}
    assert channels_of(views) == {"L": 1, "ab": 2, "all": 3}
    with pytest.raises(ValueError, match="'depth' cannot be cut from 'rgb' alone: it wants 'depth'"):
        channels_of({"L": lightness, "depth": depth})


def test_a_recipe_shows_and_sets_what_is_cut():
    recipe = replace(demo_two(), views=split("Lab"))
    settings = [
        "views.ab.space=YDbDr",
        "views.L.space=YDbDr",
        "views.L.channels=2",
        "views.ab.channels=(0,1)",
    ]
    views = override(recipe, settings).views
    assert describe(views) == {
        "L": {"call": "coview.views.colour.colour", "space": "YDbDr", "channels": [2]},
        "ab": {"call": "coview.views.colour.colour", "space": "YDbDr", "channels": [0, 1]},
    }
    rgb = random_rgb(2, 3, 5, 7)
    wanted = colour({"rgb": rgb}, space="YDbDr", channels=(2, 0, 1))
    assert torch.equal(torch.cat([view({"rgb": rgb}) for view in views.values()], 1), wanted)


def test_lightness_and_chroma_are_the_views_of_lab():
    rgb = random_rgb(2, 3, 5, 7)
    both = torch.cat([lightness({"rgb": rgb}), chroma({"rgb": rgb})], 1)
    assert torch.equal(both, torch.cat([view({"rgb": rgb}) for view in split("Lab").values()], 1))
    assert np.abs(both.numpy() - scaled_by_scikit(rgb, "Lab")).max() < 2e-6
    assert np.abs(rgb_to_lab(rgb).numpy() - by_scikit(rgb, "Lab")).max() < 1e-4


@every_space
def test_a_clip_is_its_frames(space):
    for frames in (3, 4):  # as many frames as colours must not mix them up
        rgb = random_rgb(2, frames, 3, 5, 7)
        for view, channels in zip(split(space).values(), (1, 2), strict=True):
            clip = view({"rgb": rgb})
            assert clip.shape == (2, frames, channels, 5, 7)
            for frame in range(frames):
                alone = view({"rgb": rgb[:, frame]})  # of another size: powers may round otherwise
                torch.testing.assert_close(clip[:, frame], alone, atol=1e-6, rtol=0)
    assert lightness({"rgb": rgb}).shape == (2, 4, 1, 5, 7)
    assert chroma({"rgb": rgb}).shape == (2, 4, 2, 5, 7)
    assert rgb_to_lab(rgb).shape == (2, 4, 3, 5, 7)


@every_space
def test_autocast_changes_nothing(space):
    rgb = random_rgb(2, 3, 5, 7)
    wanted = colour({"rgb": rgb}, space=space, channels=(0, 1, 2))
    with torch.autocast("cpu", torch.bfloat16):
        found = colour({"rgb": rgb}, space=space, channels=(0, 1, 2))
    assert found.dtype == torch.float32
    assert torch.equal(found, wanted)


@every_space
def test_nothing_waits_for_a_value(space):
    """On the meta device there are none: an .item() or a branch on a pixel would fail."""
    rgb = torch.empty(2, 3, 5, 7, dtype=torch.uint8, device="meta")
    assert colour({"rgb": rgb}, space=space, channels=(0, 1, 2)).shape == (2, 3, 5, 7)


class Powers(TorchDispatchMode):
    """Counts powers of whole pictures, by far the dearest step of Lab and Luv."""

    def __init__(self, pixels: int) -> None:
        super().__init__()
        self.pixels, self.count = pixels, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func is torch.ops.aten.pow.Tensor_Scalar and args[0].numel() == self.pixels
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("space", "channels", "powers"),
    [("Lab", 0, 1), ("Lab", 1, 2), ("Lab", (1, 2), 3), ("Luv", (0, 1, 2), 1), ("XYZ", (0, 1, 2), 0)],
)
def test_what_is_not_wanted_is_not_computed(space, channels, powers):
    rgb = random_rgb(2, 3, 5, 7)
    with Powers(2 * 5 * 7) as counted:
        colour({"rgb": rgb}, space=space, channels=channels)
    assert counted.count == powers


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"space": "lab", "channels": 0},
            r"no colour space 'lab' \(did you mean .*'Lab'.*; there are Lab, YCbCr",
        ),
        ({"space": "YDbDR", "channels": 0}, r"no colour space 'YDbDR' \(did you mean 'YDbDr'"),
        ({"space": "YDbDr", "channels": 3}, r"YDbDr takes .* channels 0 \(Y\), 1 \(Db\), 2 \(Dr\), got 3"),
        ({"space": "Lab", "channels": (1, -1)}, r"channels 0 \(L\), 1 \(a\), 2 \(b\), got \(1, -1\)"),
        ({"space": "Lab", "channels": ()}, r"one or more of its channels .*, got \(\)"),
    ],
)
def test_what_is_no_space_and_no_channel(options, message):
    with pytest.raises(ValueError, match=message):
        colour({"rgb": random_rgb(2, 3, 5, 7)}, **options)


def test_split_of_no_space():
    with pytest.raises(ValueError, match=r"no colour space 'YUB' \(did you mean 'YUV'"):
        split("YUB")


@pytest.mark.parametrize(
    ("rgb", "came"),
    [
        (torch.rand(2, 3, 5, 7), r"float32 \[2, 3, 5, 7\]"),
        (random_rgb(2, 5, 7, 3), r"uint8 \[2, 5, 7, 3\]"),
        (random_rgb(3, 5, 7), r"uint8 \[3, 5, 7\]"),
    ],
)
def test_what_is_no_picture(rgb, came):
    with pytest.raises(ValueError, match=rf"want 'rgb' as uint8 \[B 3 H W\], .* got {came}"):
        lightness({"rgb": rgb})


def test_no_colour_at_all():
    with pytest.raises(ValueError, match="no field 'rgb': it stores depth"):
        chroma({"depth": torch.zeros(2, 1, 5, 7)})
