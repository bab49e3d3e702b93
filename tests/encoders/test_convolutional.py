"""The small convolutional encoder."""

import pytest
import torch

from coview.encoders import SmallConv


@pytest.mark.parametrize(("channels", "height", "width"), [(1, 64, 64), (2, 17, 33), (5, 40, 23), (3, 1, 2)])
def test_any_channels_and_sizes(channels, height, width):
    encoder = SmallConv(channels, width=6, hidden=14, dim=9)
    found = encoder.features(torch.randn(4, channels, height, width))
    assert list(found) == ["conv1", "conv2", "conv3", "conv4", "fc", "embedding"]
    for n, maps in enumerate((6, 12, 24, 24), start=1):
        height, width = -(-height // 2), -(-width // 2)
        assert found[f"conv{n}"].shape == (4, maps, height, width)
    assert found["fc"].shape == (4, 14)
    assert found["embedding"].shape == (4, 9)


def test_the_embedding_is_the_last_feature_and_linear_in_the_one_before():
    encoder = SmallConv(2, width=3, hidden=8, dim=5).eval()
    view = torch.randn(6, 2, 20, 28)
    found = encoder.features(view)
    assert torch.equal(encoder(view), found["embedding"])
    by_hand = found["fc"] @ encoder.embedding.weight.T + encoder.embedding.bias
    torch.testing.assert_close(found["embedding"], by_hand)
    assert found["fc"].min() >= 0


def test_features_are_those_of_the_layers_one_after_another():
    encoder = SmallConv(2, width=3, hidden=8, dim=5, side=2).eval()
    flow = view = torch.randn(6, 2, 20, 28)
    found = encoder.features(view)
    for n in range(1, 5):
        convolution, norm, _ = encoder.layers[f"conv{n}"]
        assert convolution.weight.shape[-2:] == ((5, 5) if n == 1 else (3, 3))
        flow = torch.nn.functional.conv2d(flow, convolution.weight, stride=2, padding=2 if n == 1 else 1)
        scale = norm.weight / (norm.running_var + norm.eps).sqrt()
        flow = (
            (flow - norm.running_mean[:, None, None]) * scale[:, None, None] + norm.bias[:, None, None]
        ).relu()
        torch.testing.assert_close(found[f"conv{n}"], flow)
    pooled = torch.nn.functional.adaptive_avg_pool2d(flow, 2).reshape(6, -1)
    _, linear, norm, _ = encoder.layers["fc"]
    torch.testing.assert_close(found["fc"], norm(pooled @ linear.weight.T).relu())


def test_evaluation_is_deterministic_and_by_sample():
    encoder = SmallConv(3, width=4, hidden=10, dim=7)
    view = torch.randn(8, 3, 24, 18)
    for _ in range(3):
        encoder(view)  # statistics of a few batches
    encoder.eval()
    before = {name: value.clone() for name, value in encoder.state_dict().items()}
    first = encoder(view)
    assert torch.equal(encoder(view), first)
    torch.testing.assert_close(encoder(view[2:3]), first[2:3], rtol=1e-4, atol=1e-5)
    assert all(torch.equal(value, before[name]) for name, value in encoder.state_dict().items())


def test_the_layout_in_memory_does_not_matter():
    encoder = SmallConv(3, width=4, hidden=10, dim=7).eval()
    view = torch.randn(5, 3, 24, 18)
    torch.testing.assert_close(encoder(view.contiguous(memory_format=torch.channels_last)), encoder(view))


def test_every_parameter_learns():
    encoder = SmallConv(3, width=4, hidden=10, dim=7)
    encoder(torch.randn(8, 3, 24, 18)).square().sum().backward()
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in encoder.parameters())
