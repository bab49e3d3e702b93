"""Networks of timm as encoders; nothing is downloaded."""

import builtins

import pytest
import timm
import torch
from torch import nn

from coview.encoders import timm_encoder

# A network by name, its arguments, its stages, and their maps and sides for an image of 64 x 96.
CASES = {
    "test_resnet": (
        {"zero_init_last": False},  # or what leads to it would not learn at the first step
        {"act1": (32, 2), "layer1": (32, 4), "layer2": (48, 8), "layer3": (192, 16), "layer4": (96, 32)},
    ),
    "convnext_atto": (
        {"dims": (8, 16, 24, 40)},
        {"stages.0": (8, 4), "stages.1": (16, 8), "stages.2": (24, 16), "stages.3": (40, 32)},
    ),
    "vit_tiny_patch16_224": (
        {"img_size": (64, 96), "depth": 3, "embed_dim": 24},
        {"blocks.0": (24, 16), "blocks.1": (24, 16), "blocks.2": (24, 16)},
    ),
    "mobilenetv3_small_050": (  # a convolution after the pool: it makes more numbers than the last map has
        {},
        {
            "bn1": (16, 2),
            "blocks.0": (8, 4),
            "blocks.1": (16, 8),
            "blocks.3": (24, 16),
            "blocks.5": (288, 32),
        },
    ),
}
POOLED = {"test_resnet": 96, "convnext_atto": 40, "vit_tiny_patch16_224": 24, "mobilenetv3_small_050": 1024}


def make(name: str, channels: int) -> nn.Module:
    return timm_encoder(name, channels, dim=7, **CASES[name][0])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("channels", "samples"), [(1, 5), (2, 3)])
def test_shapes_and_names(name, channels, samples):
    stages = CASES[name][1]
    found = make(name, channels).features(torch.randn(samples, channels, 64, 96))
    assert list(found) == [*stages, "pooled", "embedding"]
    for stage, (maps, step) in stages.items():
        assert found[stage].shape == (samples, maps, 64 // step, 96 // step), stage
    assert found["pooled"].shape == (samples, POOLED[name])
    assert found["embedding"].shape == (samples, 7)


@pytest.mark.parametrize("name", ["test_resnet", "convnext_atto"])
def test_any_size(name):
    found = make(name, 3).features(torch.randn(4, 3, 32, 128))
    for stage, (maps, step) in CASES[name][1].items():
        assert found[stage].shape == (4, maps, 32 // step, 128 // step), stage


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_network_of_timm_with_a_linear_embedding(name):
    encoder = make(name, 3).eval()
    network = timm.create_model(name, num_classes=0, **CASES[name][0]).eval()
    network.load_state_dict(encoder.network.state_dict())
    view = torch.randn(4, 3, 64, 96)
    found, pooled = encoder.features(view), network(view)
    torch.testing.assert_close(found["pooled"], pooled)
    torch.testing.assert_close(
        found["embedding"], pooled @ encoder.embedding.weight.T + encoder.embedding.bias
    )
    torch.testing.assert_close(encoder(view), found["embedding"])


def test_stages_are_those_that_lead_to_the_next():
    encoder = make("convnext_atto", 3).eval()
    view = torch.randn(4, 3, 64, 96)
    found, flow = encoder.features(view), encoder.network.stem(view)
    for n, stage in enumerate(encoder.network.stages):
        flow = stage(flow)
        torch.testing.assert_close(found[f"stages.{n}"], flow)


def test_a_network_that_does_not_show_its_stages(monkeypatch):
    encoder = make("test_resnet", 2).eval()
    view = torch.randn(4, 2, 64, 96)
    whole = encoder.features(view)
    monkeypatch.delattr(type(encoder.network), "forward_intermediates")
    found = encoder.features(view)
    assert list(found) == ["pooled", "embedding"]
    assert all(torch.equal(values, whole[name]) for name, values in found.items())


@pytest.mark.parametrize("name", CASES)
def test_the_number_of_parameters(name):
    network = timm.create_model(name, in_chans=2, num_classes=0, **CASES[name][0])
    assert count(make(name, 2)) == count(network) + POOLED[name] * 7 + 7


@pytest.mark.parametrize("name", CASES)
def test_every_parameter_learns(name):
    encoder = make(name, 2)
    encoder(torch.randn(6, 2, 64, 96)).square().sum().backward()
    still = [which for which, one in encoder.named_parameters() if one.grad is None or not one.grad.any()]
    assert not still


@pytest.mark.parametrize("name", CASES)
def test_evaluation_is_deterministic_and_by_sample(name):
    encoder = make(name, 2)
    view = torch.randn(6, 2, 64, 96)
    encoder(view)  # statistics of a batch
    encoder.eval()
    before = {key: value.clone() for key, value in encoder.state_dict().items()}
    first = encoder(view)
    assert torch.equal(encoder(view), first)
    torch.testing.assert_close(encoder(view[4:5]), first[4:5], rtol=1e-4, atol=1e-5)
    assert all(torch.equal(value, before[key]) for key, value in encoder.state_dict().items())


@pytest.mark.parametrize("name", CASES)
def test_channels_last_stays_and_gives_the_same(name):
    encoder = make(name, 2).double().eval()
    view = torch.randn(3, 2, 64, 96, dtype=torch.float64)
    plain = encoder.features(view)
    encoder.to(memory_format=torch.channels_last)
    found = encoder.features(view.contiguous(memory_format=torch.channels_last))
    for stage, values in found.items():
        torch.testing.assert_close(values, plain[stage])
        if values.ndim == 4 and "vit" not in name:
            assert values.is_contiguous(memory_format=torch.channels_last), stage


def test_a_wrong_number_of_channels():
    with pytest.raises(RuntimeError, match="to have 2 channels, but got 3"):
        make("test_resnet", 2)(torch.randn(4, 3, 64, 96))


def test_a_name_that_was_nearly_right():
    with pytest.raises(ValueError, match=r"timm has no network 'rensnet10t' \(did you mean 'resnet10t'"):
        timm_encoder("rensnet10t", 2)


def test_without_timm(monkeypatch):
    plain = builtins.__import__

    def lacking(name, *arguments, **keywords):
        if name == "timm":
            raise ModuleNotFoundError("No module named 'timm'")
        return plain(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(ImportError, match=r"'resnet10t' comes from timm: pip install 'coview\[timm\]'"):
        timm_encoder("resnet10t", 2)


def count(network: nn.Module) -> int:
    return sum(one.numel() for one in network.parameters())
