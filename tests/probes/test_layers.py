"""Layers of the paper's encoders at the sizes that its probes look at, and encoders that name theirs in other ways."""

import pytest
import torch
from torch import Tensor, nn

from coview.encoders import MLP, ResNet, imagenet_half, stl10_half
from coview.probes import extract_layers, layer_features, layer_names
from coview.probes.layers import all_features
from coview.types import Batch

ALEXNET = ("conv1", "conv2", "conv3", "conv4", "conv5", "fc6", "fc7", "embedding")


def sizes(encoders: dict[str, nn.Module], views: dict[str, Tensor]) -> dict[str, list[int]]:
    """By layer, how many numbers each of the views gives."""
    layers = layer_names(encoders["ab"], views["ab"])
    found = extract_layers(encoders, [Batch(views, torch.arange(len(views["ab"])))], layers)
    return {layer: [values.shape[1] for values in one.values.values()] for layer, one in found.items()}


def test_imagenet_halves_pool_to_the_grids_of_the_paper():
    """10x10, 6x6, 5x5, 5x5 and 6x6, about 9,000 numbers of both halves."""
    views = {"L": torch.randn(2, 1, 224, 224), "ab": torch.randn(2, 2, 224, 224)}
    found = sizes({"L": imagenet_half(1), "ab": imagenet_half(2)}, views)
    maps = {"conv1": 48 * 100, "conv2": 128 * 36, "conv3": 192 * 25, "conv4": 192 * 25, "conv5": 128 * 36}
    assert found == {
        layer: [size, size] for layer, size in (maps | {"fc6": 2048, "fc7": 2048, "embedding": 128}).items()
    }
    assert all(9000 < 2 * size <= 9600 for size in maps.values())


def test_stl10_halves_keep_conv5_whole():
    views = {"L": torch.randn(2, 1, 64, 64), "ab": torch.randn(2, 2, 64, 64)}
    found = sizes({"L": stl10_half(1), "ab": stl10_half(2)}, views)
    assert tuple(found) == ALEXNET
    assert found["conv5"] == [96 * 7 * 7] * 2
    assert found["fc7"] == [2048] * 2


def test_resnets_have_their_stages_and_what_is_pooled():
    encoder = ResNet(2, depth=18, width=0.5, stem="cifar", dim=16).eval()
    view = torch.randn(2, 2, 32, 32)
    names = layer_names(encoder, view)
    assert names == ("stem", "layer1", "layer2", "layer3", "layer4", "pooled", "embedding")
    found = all_features(encoder, view, names, numbers=900)
    grids = {"stem": 32 * 25, "layer1": 32 * 25, "layer2": 64 * 9, "layer3": 128 * 4, "layer4": 256}
    assert {name: values.shape[1] for name, values in found.items()} == grids | {
        "pooled": 256,
        "embedding": 16,
    }


class Parts(nn.Module):
    """An embedding of the whole, and of each cell of an early map."""

    def forward(self, view: Tensor) -> dict[str, Tensor]:
        return {"": view.mean((2, 3)), "conv1": view.flatten(2).mT}


def test_the_embedding_is_that_of_the_whole_where_there_are_parts():
    view = torch.randn(3, 4, 5, 6)
    torch.testing.assert_close(layer_features(Parts(), view, "embedding"), view.mean((2, 3)))


@pytest.mark.parametrize(
    ("encoder", "names"),
    [(MLP(7, dim=3), None), (nn.Linear(7, 3), ("embedding",)), (Parts(), ("embedding",))],
)
def test_names_end_with_the_embedding(encoder: nn.Module, names: tuple[str, ...] | None):
    found = layer_names(encoder.eval(), torch.randn(2, 7) if names is None else torch.randn(2, 4, 5, 7))
    assert found == (names or found)
    assert found[-1] == "embedding"
    assert len(found) == (1 if names else 3)


def test_layers_that_are_neither_vectors_nor_maps_are_not_among_them():
    class Tokens(nn.Module):
        def features(self, view: Tensor) -> dict[str, Tensor]:
            return {"tokens": view.flatten(2).mT, "pooled": view.mean((2, 3))}

    assert layer_names(Tokens(), torch.randn(2, 3, 4, 5)) == ("pooled", "embedding")


def test_a_look_at_the_names_changes_nothing():
    encoder = stl10_half(1, width=0.1)
    before = {name: values.clone() for name, values in encoder.state_dict().items()}
    assert layer_names(encoder, torch.randn(2, 1, 20, 20)) == ALEXNET
    assert encoder.training
    assert all(torch.equal(values, before[name]) for name, values in encoder.state_dict().items())
