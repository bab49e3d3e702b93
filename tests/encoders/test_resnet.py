"""Residual networks against those of torchvision, and against the numbers of the paper."""

from itertools import pairwise

import pytest
import torch
from torch import nn

from coview.encoders import ResNet

NAMES = ["stem", "layer1", "layer2", "layer3", "layer4", "pooled", "embedding"]


def small(channels: int, **arguments) -> ResNet:
    """Eight planes in the first stage."""
    return ResNet(channels, **{"depth": 18, "width": 0.125, "dim": 5, "stem": "cifar", **arguments})


@pytest.mark.parametrize(("depth", "growth"), [(18, 1), (34, 1), (50, 4), (101, 4)])
@pytest.mark.parametrize("stem", ["imagenet", "cifar"])
@pytest.mark.parametrize(("channels", "height", "width"), [(1, 32, 64), (2, 96, 224), (5, 33, 1)])
def test_shapes_and_names(depth, growth, stem, channels, height, width):
    with torch.device("meta"):
        encoder = small(channels, depth=depth, stem=stem)
        found = encoder.features(torch.empty(3, channels, height, width))
    assert list(found) == NAMES
    if stem == "imagenet":
        height, width = -(-height // 4), -(-width // 4)
    assert found["stem"].shape == (3, 64 if stem == "imagenet" else 8, height, width)
    for n in range(4):
        assert found[f"layer{n + 1}"].shape == (3, growth * 8 * 2**n, height, width)
        height, width = -(-height // 2), -(-width // 2)
    assert found["pooled"].shape == (3, growth * 64)
    assert found["embedding"].shape == (3, 5)


@pytest.mark.parametrize(("depth", "height", "width"), [(18, 64, 96), (50, 75, 64)])
def test_torchvision_says_the_same(depth, height, width):
    from torchvision import models

    theirs = getattr(models, f"resnet{depth}")()
    randomise(theirs)
    theirs.fc = nn.Identity()
    ours = ResNet(3, depth=depth, dim=7)
    body = [value for name, value in ours.state_dict().items() if not name.startswith("embedding")]
    for mine, value in zip(body, theirs.state_dict().values(), strict=True):  # both in the order of use
        assert mine.shape == value.shape
        mine.copy_(value)
    view = torch.randn(2, 3, height, width, dtype=torch.float64)
    for both in (ours, theirs):
        both.double().eval()
    with torch.no_grad():
        found, wanted = ours.features(view), theirs(view)
        for name in ("layer1", "layer2", "layer3", "layer4"):
            assert found[name].count_nonzero() > 0.1 * found[name].numel()
        torch.testing.assert_close(found["pooled"], wanted)
        torch.testing.assert_close(ours.train().features(view)["pooled"], theirs.train()(view))


def test_it_starts_as_torchvision_does():
    from torchvision import models

    ours = {name: value for name, value in ResNet(3, depth=18).named_parameters() if value.ndim == 4}
    theirs = [value for value in models.resnet18().parameters() if value.ndim == 4]
    for (name, mine), value in zip(ours.items(), theirs, strict=True):
        torch.testing.assert_close(mine.std(), value.std(), rtol=0.05, atol=0, msg=name)


@pytest.mark.parametrize(("width", "millions"), [(0.5, 12.06), (1.0, 47.53), (2.0, 188.75)])
def test_pairs_are_as_large_as_the_paper_says(width, millions):
    with torch.device("meta"):
        light, colour = ResNet(1, depth=50, width=width), ResNet(2, depth=50, width=width)
    assert round((count(light) + count(colour)) / 1e6, 2) == millions
    assert count(colour) - count(light) == 64 * 7 * 7  # the stem stays as it is


def test_the_number_of_parameters_of_a_pair_for_cifar():
    with torch.device("meta"):
        light, colour = (ResNet(channels, depth=18, width=0.75, dim=64, stem="cifar") for channels in (1, 2))
    planes = [48, 96, 192, 384]
    blocks = sum(9 * (4 * after**2) + 8 * after for after in planes)  # all convolutions as if inside a stage
    for before, after in pairwise(planes):
        blocks += 9 * after * (before - after) + after * before + 2 * after
    heads = 384 * 64 + 64
    assert count(light) == blocks + 9 * 48 * 1 + 2 * 48 + heads
    assert count(colour) == blocks + 9 * 48 * 2 + 2 * 48 + heads
    assert round((count(light) + count(colour)) / 1e6, 2) == 12.62


@pytest.mark.parametrize(
    ("width", "planes"), [(0.01, 8), (0.2, 16), (0.3, 16), (0.33, 24), (0.75, 48), (1.0, 64), (1.1, 72)]
)
def test_any_width_is_rounded_to_eights(width, planes):
    with torch.device("meta"):
        found = ResNet(2, depth=50, width=width, stem="cifar").features(torch.empty(3, 2, 9, 9))
    sizes = [found[name].shape[1] for name in NAMES[:5]]
    assert sizes == [planes, 4 * planes, 8 * planes, 16 * planes, 32 * planes]


def test_the_embedding_is_linear_in_the_mean_of_the_last_map():
    encoder = small(2)
    view = torch.randn(6, 2, 17, 26)
    found = encoder.features(view)
    mean = found["layer4"].flatten(2).mean(2)
    torch.testing.assert_close(found["pooled"], mean)
    by_hand = mean @ encoder.embedding.weight.T + encoder.embedding.bias
    torch.testing.assert_close(found["embedding"], by_hand)


def test_a_head_of_two_layers():
    encoder = small(2, head="mlp").eval()
    view = torch.randn(6, 2, 17, 26)
    found = encoder.features(view)
    first, _, second = encoder.embedding
    assert first.weight.shape == (64, 64)
    hidden = (found["pooled"] @ first.weight.T + first.bias).clamp(min=0)
    torch.testing.assert_close(found["embedding"], hidden @ second.weight.T + second.bias)
    assert torch.equal(encoder(view), found["embedding"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"depth": 20}, "wanted as depth one of 18, 34, 50, 101, got 20"),
        ({"stem": "stl"}, "wanted as stem one of 'imagenet', 'cifar', got 'stl'"),
        ({"head": "none"}, "wanted as head one of 'linear', 'mlp', got 'none'"),
    ],
)
def test_what_there_is_not(arguments, message):
    with pytest.raises(ValueError, match=message):
        small(2, **arguments)


def test_a_wrong_number_of_channels():
    with pytest.raises(RuntimeError, match="to have 2 channels, but got 3"):
        small(2)(torch.randn(4, 3, 16, 16))


@pytest.mark.parametrize("depth", [18, 50])
@pytest.mark.parametrize("stem", ["imagenet", "cifar"])
@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_every_parameter_learns(depth, stem, head):
    encoder = small(3, depth=depth, stem=stem, head=head)
    encoder(torch.randn(7, 3, 40, 36)).square().sum().backward()
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in encoder.parameters())


def test_a_layer_is_not_changed_by_the_next():
    encoder = small(3, stem="imagenet").eval()
    view = torch.randn(4, 3, 40, 36)
    found, flow = encoder.features(view), view.clone()
    for name, layer in encoder.layers.items():
        flow = layer(flow).clone()
        assert torch.equal(found[name], flow), name


def test_evaluation_is_deterministic_and_by_sample():
    encoder = small(3)
    view = torch.randn(6, 3, 19, 22)
    encoder(view)  # statistics of a batch
    encoder.eval()
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    first = encoder(view)
    assert torch.equal(encoder(view), first)
    torch.testing.assert_close(encoder(view[4:5]), first[4:5], rtol=1e-4, atol=1e-5)
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


@pytest.mark.parametrize("depth", [18, 50])
@pytest.mark.parametrize("stem", ["imagenet", "cifar"])
def test_channels_last_stays_and_gives_the_same(depth, stem):
    encoder = small(2, depth=depth, stem=stem).double()
    view = torch.randn(3, 2, 72, 56, dtype=torch.float64)
    plain = encoder.features(view)
    encoder.to(memory_format=torch.channels_last)
    found = encoder.features(view.contiguous(memory_format=torch.channels_last))
    for name, values in found.items():
        torch.testing.assert_close(values, plain[name])
        if values.ndim == 4:
            assert values.is_contiguous(memory_format=torch.channels_last), name
            assert plain[name].is_contiguous(), name


def count(encoder: nn.Module) -> int:
    return sum(one.numel() for one in encoder.parameters())


def randomise(network: nn.Module) -> None:
    """Batch norms as after some training: no statistic, scale or shift is what it started as."""
    for part in network.modules():
        if isinstance(part, nn.BatchNorm2d):
            for values in (part.weight, part.bias, part.running_mean, part.running_var):
                nn.init.uniform_(values, 0.5, 1.0)
