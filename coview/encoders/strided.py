"""An image as overlapping patches, each of which is encoded alone (the strided crop of CPC, on STL-10)."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from coview.encoders.alexnet import HalfAlexNet


class Strided(nn.Module):
    """A half-AlexNet whose convolutions see one patch at a time; features patches, pooled, fc6, fc7.

    The three pools of the STL-10 half make one cell of a patch of 16 x 16, so that the 7 x 7 patches of a crop of 64
    are the very map that its fc6 takes: the same weights, but no cell has seen anything outside of its patch.
    `with_cells(..., layers=("patches",))` contrasts them.
    """

    def __init__(self, make: Callable[[], HalfAlexNet], *, size: int = 16, step: int = 8) -> None:
        super().__init__()
        self.alexnet, self.size, self.step = make(), size, step
        if not isinstance(self.alexnet, HalfAlexNet):
            raise ValueError(f"wanted a half-AlexNet for the patches, got a {type(self.alexnet).__name__}")
        if size < self.alexnet.smallest:
            raise ValueError(
                f"wanted patches of {self.alexnet.smallest} or more for this half, got size={size}"
            )

    def features(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """Every named layer, in order, the embedding last."""
        found = {"patches": self._patches(view)}
        found["pooled"] = found["patches"].mean((2, 3))
        return {**found, **self.alexnet.from_maps(found["patches"])}

    def forward(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B D"]:
        return self.features(view)["embedding"]

    def _patches(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B M h w"]:
        """One vector for each patch, at the place that it has in the image."""
        if min(view.shape[-2:]) < self.size:
            raise ValueError(f"wanted images of at least {self.size} x {self.size}, got {list(view.shape)}")
        cut = view.unfold(2, self.size, self.step).unfold(3, self.size, self.step)
        flow = cut.permute(0, 2, 3, 1, 4, 5).flatten(0, 2).contiguous(memory_format=torch.channels_last)
        for layer in self.alexnet.maps.values():
            flow = layer(flow)
        return flow.mean((2, 3)).unflatten(0, (len(view), *cut.shape[2:4])).movedim(-1, 1)
