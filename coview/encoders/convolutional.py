"""A small convolutional encoder, for images of any channel count."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor, nn


class SmallConv(nn.Module):
    """Four strided convolutions with batch norm, a hidden layer and an embedding; features conv1 to conv4, fc."""

    def __init__(
        self, channels: int, *, width: int = 24, hidden: int = 256, dim: int = 64, side: int = 4
    ) -> None:
        super().__init__()
        sizes: Sequence[int] = (channels, width, 2 * width, 4 * width, 4 * width)
        kernels = (5, 3, 3, 3)
        self.layers = nn.ModuleDict(
            {f"conv{n + 1}": _block(sizes[n], sizes[n + 1], kernels[n]) for n in range(len(kernels))}
        )
        self.side = nn.AdaptiveAvgPool2d(side)
        self.layers["fc"] = nn.Sequential(
            nn.Flatten(),
            nn.Linear(sizes[-1] * side * side, hidden, bias=False),
            nn.BatchNorm1d(hidden),
            nn.ReLU(),
        )
        self.embedding = nn.Linear(hidden, dim)

    def features(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """Every named layer, in order, the embedding last."""
        found: dict[str, Tensor] = {}
        flow = view
        for name, layer in self.layers.items():
            flow = layer(self.side(flow) if name == "fc" else flow)
            found[name] = flow
        found["embedding"] = self.embedding(flow)
        return found

    def forward(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B D"]:
        return self.features(view)["embedding"]


def _block(channels: int, out: int, kernel: int) -> nn.Sequential:
    convolution = nn.Conv2d(channels, out, kernel, stride=2, padding=kernel // 2, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(out), nn.ReLU(inplace=True))
