"""The halves of AlexNet against the tables of the paper."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from coview.encoders import HalfAlexNet, imagenet_half, stl10_half
from coview.encoders.alexnet import Row

NAMES = ["conv1", "conv2", "conv3", "conv4", "conv5", "fc6", "fc7", "embedding"]
# Columns C, K, S and P of the tables in the appendix, whether a pool follows, and X after that pool.
TABLES = {
    imagenet_half: [
        (48, 11, 4, 2, True, 27),
        (128, 5, 1, 2, True, 13),
        (192, 3, 1, 1, False, 13),
        (192, 3, 1, 1, False, 13),
        (128, 3, 1, 1, True, 6),
    ],
    stl10_half: [
        (48, 3, 1, 1, True, 31),
        (96, 3, 1, 1, True, 15),
        (192, 3, 1, 1, False, 15),
        (192, 3, 1, 1, False, 15),
        (96, 3, 1, 1, True, 7),
    ],
}
NOMINAL = {imagenet_half: 224, stl10_half: 64}
SMALLEST = {imagenet_half: 63, stl10_half: 15}


def small(channels: int) -> HalfAlexNet:
    """Of other rows than the paper's: 8 and 24 maps, that of an 18 x 23 image 4 x 5 at last, and 16 hidden."""
    table = (Row(1024, kernel=5, stride=2, padding=2, pool=False), Row(3072, 3, 1, 1, True))
    return HalfAlexNet(channels, table=table, side=2, dim=7, width=1 / 128)


@pytest.mark.parametrize("half", TABLES)
@pytest.mark.parametrize("channels", [1, 2])
def test_sizes_are_those_of_the_table(half, channels):
    with torch.device("meta"):
        found = half(channels).features(torch.empty(3, channels, NOMINAL[half], NOMINAL[half]))
    assert list(found) == NAMES
    for n, (maps, *_, side) in enumerate(TABLES[half], start=1):
        assert found[f"conv{n}"].shape == (3, maps, side, side)
    dim = 128 if half is imagenet_half else 64
    assert [found[name].shape for name in NAMES[5:]] == [(3, 2048), (3, 2048), (3, dim)]


@pytest.mark.parametrize("half", TABLES)
@pytest.mark.parametrize("channels", [1, 2, 3])
def test_the_number_of_parameters(half, channels):
    with torch.device("meta"):
        encoder = half(channels, dim=96)
    sizes = [channels, *(maps for maps, *_ in TABLES[half])]
    kernels = [kernel for _, kernel, *_ in TABLES[half]]
    side = TABLES[half][-1][-1]
    weights = sum(sizes[n] * sizes[n + 1] * kernels[n] ** 2 for n in range(5))
    weights += sizes[-1] * side**2 * 2048 + 2048 * 2048
    norms = 2 * (sum(sizes[1:]) + 2048 + 2048)
    assert count(encoder) == weights + norms + 2048 * 96 + 96


def test_the_halves_for_imagenet_are_as_large_as_the_paper_says():
    with torch.device("meta"):
        light, colour = imagenet_half(1), imagenet_half(2)
    assert (count(light), count(colour)) == (14_836_880, 14_842_688)
    assert round(count(light) / 1e6, 2) == round(count(colour) / 1e6, 2) == 14.84


def test_twice_the_half_is_the_whole():
    with torch.device("meta"):
        whole = imagenet_half(3, width=2, dim=1000)
    maps = [layer[0].out_channels for layer in whole.maps.values()]
    assert maps == [96, 256, 384, 384, 256]
    assert [layer[0].out_features for layer in whole.vectors.values()] == [4096, 4096]
    assert whole.embedding.out_features == 1000


@pytest.mark.parametrize("width", [0.13, 0.3, 0.7])
def test_any_width_is_rounded_to_eights(width):
    with torch.device("meta"):
        encoder = stl10_half(2, width=width)
    for layer, (maps, *_) in zip(encoder.maps.values(), TABLES[stl10_half], strict=True):
        assert layer[0].out_channels % 8 == 0
        assert abs(layer[0].out_channels - maps * width) <= 4
    with torch.device("meta"):
        assert stl10_half(2, width=1e-3).maps["conv1"][0].out_channels == 8


@pytest.mark.parametrize("half", TABLES)
def test_features_are_those_of_the_table_one_after_another(half):
    encoder = half(2, dim=9, width=0.1).double().eval()
    randomise(encoder)
    flow = view = torch.randn(3, 2, NOMINAL[half], NOMINAL[half], dtype=torch.float64)
    found = encoder.features(view)
    for n, (_, kernel, stride, padding, pool, _) in enumerate(TABLES[half], start=1):
        convolution, norm, *_ = encoder.maps[f"conv{n}"]
        assert convolution.weight.shape[-2:] == (kernel, kernel)
        flow = functional.conv2d(flow, convolution.weight, stride=stride, padding=padding)
        flow = standardised(flow, norm, 2).relu()
        flow = functional.max_pool2d(flow, 3, 2) if pool else flow
        torch.testing.assert_close(found[f"conv{n}"], flow)
    flow = flow.flatten(1)
    for name in ("fc6", "fc7"):
        _, norm, _ = encoder.vectors[name]
        flow = standardised(flow @ encoder.vectors[name][0].weight.T, norm, 0).relu()
        torch.testing.assert_close(found[name], flow)
    flow = flow @ encoder.embedding.weight.T + encoder.embedding.bias
    torch.testing.assert_close(found["embedding"], flow)
    assert torch.equal(encoder(view), found["embedding"])


@pytest.mark.parametrize("half", TABLES)
def test_sizes_beside_the_tables_own_are_averaged_to_the_side_of_fc6(half):
    encoder = half(1, dim=5, width=0.1).eval()
    view = torch.randn(2, 1, NOMINAL[half] + 35, SMALLEST[half] + 6)
    found = encoder.features(view)
    pooled = functional.adaptive_avg_pool2d(found["conv5"], TABLES[half][-1][-1])
    torch.testing.assert_close(found["fc6"], encoder.vectors["fc6"](pooled.flatten(1)))
    assert found["embedding"].shape == (2, 5)


@pytest.mark.parametrize("half", TABLES)
def test_the_smallest_image(half):
    smallest = SMALLEST[half]
    encoder = half(2, width=0.02).eval()
    assert encoder.features(torch.randn(3, 2, smallest, smallest))["conv5"].shape[-2:] == (1, 1)
    wanted = f"at least {smallest} x {smallest}, got {smallest + 3} x {smallest - 1}: take larger crops"
    with pytest.raises(ValueError, match=wanted):
        encoder(torch.randn(3, 2, smallest + 3, smallest - 1))
    with pytest.raises(ValueError, match=f"got {smallest - 1} x {smallest + 3}"):
        encoder(torch.randn(3, 2, smallest - 1, smallest + 3))


def test_a_table_of_ones_own():
    encoder = small(3)
    found = encoder.features(torch.randn(6, 3, 18, 23))
    assert [tuple(values.shape) for values in found.values()] == [
        (6, 8, 9, 12), (6, 24, 4, 5), (6, 16), (6, 16), (6, 7)
    ]  # fmt: skip
    assert encoder.smallest == 2 * (3 - 1) + 5 - 2 * 2


def test_a_wrong_number_of_channels():
    with pytest.raises(RuntimeError, match="to have 2 channels, but got 3"):
        small(2)(torch.randn(4, 3, 18, 23))


def test_every_parameter_learns():
    encoder = small(3)
    encoder(torch.randn(6, 3, 18, 23)).square().sum().backward()
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in encoder.parameters())


def test_evaluation_is_deterministic_and_by_sample():
    encoder = small(3)
    view = torch.randn(6, 3, 18, 23)
    encoder(view)  # statistics of a batch
    encoder.eval()
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    first = encoder(view)
    assert torch.equal(encoder(view), first)
    torch.testing.assert_close(encoder(view[4:5]), first[4:5], rtol=1e-4, atol=1e-5)
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


@pytest.mark.parametrize("half", TABLES)
def test_channels_last_stays_and_gives_the_same(half):
    encoder = half(2, dim=9, width=0.1).double()
    view = torch.randn(3, 2, NOMINAL[half] - 9, NOMINAL[half], dtype=torch.float64)
    plain = encoder.features(view)
    encoder.to(memory_format=torch.channels_last)
    found = encoder.features(view.contiguous(memory_format=torch.channels_last))
    for name, values in found.items():
        torch.testing.assert_close(values, plain[name])
        if name.startswith("conv"):
            assert values.is_contiguous(memory_format=torch.channels_last), name
            assert plain[name].is_contiguous(), name


def count(encoder: nn.Module) -> int:
    return sum(one.numel() for one in encoder.parameters())


def randomise(encoder: nn.Module) -> None:
    """Batch norms as after some training: no statistic, scale or shift is what it started as."""
    for part in encoder.modules():
        if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d):
            for values in (part.weight, part.bias, part.running_mean, part.running_var):
                nn.init.uniform_(values, 0.5, 1.5)


def standardised(values: torch.Tensor, norm: nn.Module, trailing: int) -> torch.Tensor:
    mean, variance, scale, shift = (
        one.reshape(-1, *[1] * trailing)
        for one in (norm.running_mean, norm.running_var, norm.weight, norm.bias)
    )
    return (values - mean) / (variance + norm.eps).sqrt() * scale + shift
