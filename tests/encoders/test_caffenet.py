"""CaffeNet: its sizes as Caffe's, both norms, and one encoder under two names."""

from dataclasses import replace

import pytest
import torch
from toys import SIZES, toy

from coview.contrast import full_graph
from coview.encoders import CaffeNet, SameAs
from coview.training.state import build_encoders


def test_maps_are_those_of_caffe():
    network = CaffeNet(3, norm="local").eval()
    with torch.no_grad():
        found = network.features(torch.randn(1, 3, 227, 227))
    assert {name: tuple(values.shape[1:]) for name, values in found.items()} == {
        "conv1": (96, 27, 27),
        "conv2": (256, 13, 13),
        "conv3": (384, 13, 13),
        "conv4": (384, 13, 13),
        "conv5": (256, 6, 6),
        "fc6": (4096,),
        "embedding": (128,),
    }
    shapes = [tuple(one.shape) for name, one in network.named_parameters() if name.startswith("maps")]
    assert shapes[::2] == [
        (96, 3, 11, 11),
        (256, 48, 5, 5),
        (384, 256, 3, 3),
        (384, 192, 3, 3),
        (256, 192, 3, 3),
    ]
    convolutions = sum(one.numel() for one in network.maps.parameters())
    assert convolutions == 2_334_080, "as Caffe's, without its full layers"


@pytest.mark.parametrize("norm", ["batch", "local"])
@pytest.mark.parametrize(("size", "side"), [(64, 4), (112, 3), (224, 6)])
def test_sizes_and_norms(norm, size, side):
    network = CaffeNet(12, size=size, norm=norm, dim=9, width=0.06).eval()
    view = torch.randn(2, 12, size, size)
    found = network.features(view)
    assert found["conv5"].shape[2:] == (side, side)
    assert torch.equal(network(view), found["embedding"])
    assert found["embedding"].shape == (2, 9)
    assert any(isinstance(one, torch.nn.LocalResponseNorm) for one in network.modules()) == (norm == "local")
    assert any(isinstance(one, torch.nn.BatchNorm2d) for one in network.modules()) == (norm == "batch")


def test_dropout_stands_between_fc6_and_the_embedding():
    network = CaffeNet(1, size=64, norm="local", dropout=0.5, dim=5, width=0.06)
    view = torch.randn(3, 1, 64, 64)
    assert not torch.equal(network(view), network(view))
    assert torch.equal(network.features(view)["fc6"], network.features(view)["fc6"])


def test_other_sizes_and_norms_are_refused():
    with pytest.raises(ValueError, match="made for 64 x 64 pixels, got 70 x 64"):
        CaffeNet(1, size=64, width=0.06)(torch.randn(1, 1, 70, 64))
    with pytest.raises(ValueError, match="norm batch or local, got 'layer'"):
        CaffeNet(1, norm="layer")


def test_two_views_share_one_encoder():
    base = toy()
    views = {**base.views, "echo": base.views["sound"]}
    recipe = replace(
        base, views=views, encoders={**base.encoders, "echo": SameAs("sound")}, graph=full_graph(list(views))
    )
    encoders = build_encoders(recipe)
    assert encoders["echo"] is encoders["sound"]
    assert len(list(encoders.parameters())) == sum(len(list(encoders[name].parameters())) for name in SIZES)
    with pytest.raises(ValueError, match=r"encoder of 'soud'.*did you mean 'sound'"):
        replace(recipe, encoders={**base.encoders, "echo": SameAs("soud")})
    with pytest.raises(ValueError, match="encoder of 'echo'"):
        replace(recipe, encoders={**base.encoders, "echo": SameAs("echo")})
