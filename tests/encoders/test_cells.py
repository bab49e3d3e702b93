"""Encoders that also embed cells, and encoders that see one patch at a time."""

from functools import partial

import pytest
import torch

from coview.encoders import MLP, Encoders, ResNet, SmallConv, Strided, imagenet_half, stl10_half, with_cells
from coview.probes import layer_features

SMALL = partial(stl10_half, 2, dim=5, width=0.05)


def halves(**rest):
    torch.manual_seed(1)
    return with_cells(SMALL, dim=5, hidden=7, **rest)


def test_cells_of_the_papers_half():
    """64 -> 31 -> 15: conv2 and conv3 have 15 x 15 cells, as many as are kept."""
    encoder = with_cells(partial(stl10_half, 1, dim=6), dim=6).eval()
    found = encoder(torch.randn(2, 1, 64, 64))
    assert {part: tuple(one.shape) for part, one in found.items()} == {
        "": (2, 6),
        "conv2": (2, 225, 6),
        "conv3": (2, 225, 6),
    }


def test_every_cell_is_embedded_alone():
    encoder, view = halves(layers=("conv2",)).eval(), torch.randn(3, 2, 30, 45)
    maps = encoder.features(view)["conv2"]
    found = encoder(view)["conv2"]
    assert found.shape == (3, maps.shape[2] * maps.shape[3], 5)
    for row, column in ((0, 0), (4, 3), (maps.shape[2] - 1, maps.shape[3] - 1)):
        cell = maps[:, :, row : row + 1, column : column + 1]
        alone = encoder.heads["conv2"](cell).flatten(1)
        torch.testing.assert_close(found[:, row * maps.shape[3] + column], alone)


@pytest.mark.parametrize(("most", "kept"), [(1000, (14, 22)), (77, (7, 11)), (3, (1, 2)), (1, (1, 1))])
def test_large_maps_are_pooled_to_so_many_cells(most, kept):
    encoder, view = halves(layers=("conv1",), most=most).eval(), torch.randn(3, 2, 30, 45)
    maps = encoder.features(view)["conv1"]
    assert maps.shape[-2:] == (14, 22)
    pooled = torch.nn.functional.adaptive_avg_pool2d(maps, kept)
    torch.testing.assert_close(encoder(view)["conv1"], encoder.heads["conv1"](pooled).flatten(2).mT)


def test_the_whole_and_the_features_are_the_encoders_own():
    encoder, view = halves().eval(), torch.randn(3, 2, 33, 40)
    inner = encoder.encoder
    assert torch.equal(encoder(view)[""], inner(view))
    assert torch.equal(layer_features(encoder, view, "embedding"), inner(view))
    assert list(encoder.features(view)) == list(inner.features(view))


def test_cells_and_whole_teach_the_encoder():
    encoder = halves(layers=("conv2",))
    found = encoder(torch.randn(4, 2, 33, 40))
    found["conv2"].square().sum().backward()
    layers = encoder.encoder.maps
    assert layers["conv1"][0].weight.grad.abs().sum() > 0
    assert layers["conv3"][0].weight.grad is None


def test_nodes_of_a_recipe_and_half_precision():
    encoders = Encoders(
        {"ab": halves(), "L": with_cells(partial(SmallConv, 1, width=3, dim=5), layers=["conv2"], dim=5)}
    )
    views = {"ab": torch.randn(3, 2, 33, 40), "L": torch.randn(3, 1, 33, 40)}
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = encoders(views)
    assert list(found) == ["ab", "ab:conv2", "ab:conv3", "L", "L:conv2"]
    assert all(one.isfinite().all() for one in found.values())


@pytest.mark.parametrize(
    ("make", "layers", "message"),
    [
        (
            SMALL,
            ["conv6"],
            r"wanted the cells of \['conv6'\], but the maps of HalfAlexNet are .*did you mean",
        ),
        (SMALL, ["fc6"], "but the maps of HalfAlexNet are conv1, conv2, conv3, conv4, conv5"),
        (SMALL, [], r"wanted the cells of \[\]"),
        (partial(torch.nn.Linear, 3, 4), ["a"], "Linear has none"),
        (partial(MLP, 9, dim=5), ["hidden1"], "MLP has no convolution"),
    ],
)
def test_cells_that_are_not_there(make, layers, message):
    with pytest.raises(ValueError, match=message):
        with_cells(make, layers=layers)


def test_no_cells_at_all():
    with pytest.raises(ValueError, match="a map keeps one cell or more, got most=0"):
        halves(most=0)


def test_any_encoder_with_maps_has_cells():
    make = partial(ResNet, 1, depth=18, width=0.125, dim=5, stem="cifar")
    found = with_cells(make, layers=("layer1", "layer3"), dim=5, most=30)(torch.randn(2, 1, 16, 24))
    assert found["layer1"].shape == (2, 4 * 6, 5)
    assert found["layer3"].shape == (2, 4 * 6, 5)


def strided():
    torch.manual_seed(3)
    return Strided(partial(stl10_half, 1, dim=6, width=0.1)).eval()


def test_a_crop_of_64_has_the_map_that_fc6_takes():
    found = Strided(partial(stl10_half, 2, dim=64)).eval().features(torch.randn(1, 2, 64, 64))
    assert {name: tuple(one.shape[1:]) for name, one in found.items()} == {
        "patches": (96, 7, 7),
        "pooled": (96,),
        "fc6": (2048,),
        "fc7": (2048,),
        "embedding": (64,),
    }
    whole = sum(one.numel() for one in stl10_half(2, dim=64).parameters())
    assert sum(one.numel() for one in Strided(partial(stl10_half, 2, dim=64)).parameters()) == whole


def test_every_patch_is_encoded_alone():
    encoder, view = strided(), torch.randn(2, 1, 40, 64)
    patches = encoder.features(view)["patches"]
    assert patches.shape[-2:] == (4, 7)
    for row, column in ((0, 0), (1, 6), (3, 2)):
        flow = view[:, :, 8 * row : 8 * row + 16, 8 * column : 8 * column + 16]
        for layer in encoder.alexnet.maps.values():
            flow = layer(flow)
        assert flow.shape[-2:] == (1, 1)
        torch.testing.assert_close(patches[:, :, row, column], flow[:, :, 0, 0])


def test_a_pixel_changes_the_patches_it_is_in_and_no_other():
    encoder, view = strided(), torch.randn(1, 1, 64, 64)
    changed = view.clone()
    changed[0, 0, 19, 42] += 5.0  # in rows 8 to 23 and 16 to 31, in columns 32 to 47 and 40 to 55
    apart = (encoder.features(view)["patches"] - encoder.features(changed)["patches"]).abs().amax(1)[0] > 1e-6
    assert {tuple(place) for place in apart.nonzero().tolist()} == {(1, 4), (1, 5), (2, 4), (2, 5)}


def test_patches_are_cells():
    make = partial(Strided, partial(stl10_half, 1, dim=6, width=0.1))
    found = with_cells(make, layers=("patches",), dim=6)(torch.randn(2, 1, 64, 64))
    assert found["patches"].shape == (2, 49, 6)
    assert found[""].shape == (2, 6)


@pytest.mark.parametrize(
    ("make", "size", "message"),
    [
        (partial(SmallConv, 1), 16, "wanted a half-AlexNet for the patches, got a SmallConv"),
        (partial(stl10_half, 1), 12, "wanted patches of 15 or more for this half, got size=12"),
        (partial(imagenet_half, 1), 16, "wanted patches of 63 or more"),
    ],
)
def test_patches_that_no_half_can_see(make, size, message):
    with pytest.raises(ValueError, match=message):
        Strided(make, size=size)


def test_an_image_smaller_than_a_patch():
    with pytest.raises(ValueError, match=r"wanted images of at least 16 x 16, got \[1, 1, 14, 20\]"):
        strided()(torch.randn(1, 1, 14, 20))
