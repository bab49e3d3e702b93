"""A UNet whose encoder is that of a view: its maps decoded from the last to the first, back to every pixel.

The paper leaves the decoder open; this one is the encoder's mirror image, with a skip from each of its maps.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from coview.names import did_you_mean

NYU_LAYERS = ("conv1", "conv2", "conv3", "conv4", "conv5")


class UNet(nn.Module):
    """Scores of classes at every pixel of a view of any size; a frozen encoder stays as it is, batch norm and all.

    On its way back each map is brought to the size of the one before, joined with it, and convolved to as many
    channels as that one has.
    """

    def __init__(
        self,
        encoder: nn.Module,
        view: Float[Tensor, "B C H W"],
        *,
        classes: int,
        frozen: bool = True,
        layers: Sequence[str] = NYU_LAYERS,
    ) -> None:
        """How many channels the maps have is seen on `view`, some samples of it."""
        super().__init__()
        self.encoder, self.layers, self.frozen = encoder.requires_grad_(not frozen), tuple(layers), frozen
        channels = [maps.shape[1] for maps in self._seen(view)]
        steps = list(zip(channels[:0:-1], channels[-2::-1], strict=True))  # from the last map to the first
        self.up = nn.ModuleList(_joined(deep + shallow, shallow) for deep, shallow in steps)
        self.last = _joined(channels[0], channels[0])
        self.scores = nn.Conv2d(channels[0], classes, 1)

    def forward(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B Q H W"]:
        *skips, flow = self._maps(view)
        for join, skip in zip(self.up, reversed(skips), strict=True):
            flow = join(torch.cat([_resized(flow, skip), skip], 1))
        return self.scores(self.last(_resized(flow, view)))

    def train(self, mode: bool = True) -> "UNet":
        """Train the decoder, and the encoder unless it is frozen."""
        super().train(mode)
        if self.frozen:
            self.encoder.eval()
        return self

    def _maps(self, view: Float[Tensor, "B C H W"]) -> list[Tensor]:
        """The encoder's maps, the first of them first."""
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.frozen):
            found = _features(self.encoder, view)
        return [found[layer] for layer in self.layers]

    @torch.no_grad()
    def _seen(self, view: Tensor) -> list[Tensor]:
        """The maps on trial, which must be maps."""
        found = _features(self.encoder.eval(), view[:2])
        maps = {name: values for name, values in found.items() if values.ndim == 4}
        strange = [layer for layer in self.layers if layer not in maps]
        if strange or not self.layers:
            raise ValueError(
                f"wanted the maps {list(self.layers)}, but those of {type(self.encoder).__name__} are {', '.join(maps)}"
                f"{did_you_mean(strange[0], maps) if strange else ''}"
            )
        return [maps[layer] for layer in self.layers]


def _features(encoder: Any, view: Tensor) -> dict[str, Tensor]:
    """Maps by layer; where an encoder can give them alone, without what comes after."""
    inner = getattr(encoder, "encoder", encoder)  # of one that also embeds cells
    return (getattr(inner, "convolutions", None) or encoder.features)(view)


def _resized(maps: Float[Tensor, "B C h w"], to: Float[Tensor, "B O H W"]) -> Float[Tensor, "B C H W"]:
    if maps.shape[-2:] == to.shape[-2:]:
        return maps
    return functional.interpolate(maps, to.shape[-2:], mode="bilinear", align_corners=False)


def _joined(channels: int, maps: int) -> nn.Sequential:
    convolution = nn.Conv2d(channels, maps, 3, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(maps), nn.ReLU(inplace=True))
