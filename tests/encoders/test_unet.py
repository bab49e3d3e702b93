"""The UNet: any size, a frozen or a trained encoder, and that it can learn what is where."""

import pytest
import torch
from torch.nn import functional

from coview.encoders import NYUEncoder, SmallConv, UNet, with_cells


def small(channels: int = 2, **more) -> UNet:
    encoder = NYUEncoder(channels, dim=6, width=0.1)
    return UNet(encoder, torch.zeros(1, channels, 32, 32), classes=5, **more)


@pytest.mark.parametrize(("height", "width"), [(32, 32), (64, 96), (60, 47), (33, 39)])
def test_scores_at_every_pixel_of_any_size(height, width):
    assert small()(torch.randn(3, 2, height, width)).shape == (3, 5, height, width)


def test_the_decoder_mirrors_the_encoder():
    unet = UNet(NYUEncoder(1), torch.zeros(2, 1, 64, 64), classes=13)
    sizes = [(one[0].in_channels, one[0].out_channels) for one in unet.up]
    assert sizes == [(512 + 256, 256), (256 + 256, 256), (256 + 128, 128), (128 + 64, 64)]


def test_a_frozen_encoder_stays_as_it_is():
    unet = small().train()
    before = {name: values.clone() for name, values in unet.encoder.state_dict().items()}
    for _ in range(3):
        descend(unet)
    after = unet.encoder.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert not any(part.training for part in unet.encoder.modules())
    assert all(one.grad is not None for one in [*unet.up.parameters(), *unet.scores.parameters()])


def test_a_trained_encoder_learns():
    unet = small(frozen=False).train()
    before = {name: values.clone() for name, values in unet.encoder.maps.state_dict().items()}
    descend(unet)
    after = unet.encoder.maps.state_dict()
    assert not any(torch.equal(before[name], after[name]) for name in before if "tracked" not in name)
    assert unet.encoder.training


def descend(unet: UNet) -> None:
    optimiser = torch.optim.Adam([one for one in unet.parameters() if one.requires_grad], lr=0.01)
    functional.cross_entropy(unet(torch.randn(3, 2, 40, 32)), torch.randint(5, (3, 40, 32))).backward()
    optimiser.step()


def test_it_finds_what_is_where():
    """Bright pixels are class 1: a map that an encoder of random weights has not lost."""
    torch.manual_seed(3)
    unet = small(1).train()
    optimiser = torch.optim.Adam([one for one in unet.parameters() if one.requires_grad], lr=0.01)
    for _ in range(25):
        view = functional.interpolate(torch.randn(4, 1, 8, 8), (64, 64), mode="bilinear")
        loss = functional.cross_entropy(unet(view), (view[:, 0] > 0).long())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    said = unet.eval()(view).argmax(1)
    assert (said == (view[:, 0] > 0)).float().mean() > 0.85


def test_other_encoders_and_those_with_cells():
    cells = with_cells(lambda: NYUEncoder(2, dim=6, width=0.1), dim=6, side=32)
    assert UNet(cells, torch.zeros(1, 2, 32, 32), classes=4)(torch.randn(2, 2, 32, 32)).shape == (
        2,
        4,
        32,
        32,
    )
    small_conv = SmallConv(2, width=4, dim=3)
    unet = UNet(small_conv, torch.zeros(1, 2, 32, 32), classes=4, layers=("conv1", "conv3"))
    assert unet(torch.randn(2, 2, 48, 32)).shape == (2, 4, 48, 32)
    with pytest.raises(
        ValueError, match=r"wanted the maps .*'conv5'.* of SmallConv are conv1, conv2, conv3, conv4"
    ):
        UNet(small_conv, torch.zeros(1, 2, 32, 32), classes=4)
