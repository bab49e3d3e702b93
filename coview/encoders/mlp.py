"""An encoder for feature tables."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class MLP(nn.Module):
    """Hidden layers with batch norm, then the embedding; features hidden1, hidden2, ...

    `standardise` brings every column to mean 0 and deviation 1. In training, `noise` of that deviation is added, and a
    share `drop` of the numbers is hidden.
    """

    def __init__(
        self,
        inputs: int,
        *,
        hidden: tuple[int, ...] = (256, 256),
        dim: int = 64,
        standardise: bool = False,
        drop: float = 0.0,
        noise: float = 0.0,
    ) -> None:
        super().__init__()
        sizes = (inputs, *hidden)
        self.front = nn.Sequential(
            nn.BatchNorm1d(inputs, affine=False) if standardise else nn.Identity(),
            Noise(noise),
            nn.Dropout(drop),
        )
        self.layers = nn.ModuleDict(
            {
                f"hidden{n + 1}": nn.Sequential(
                    nn.Linear(sizes[n], sizes[n + 1], bias=False), nn.BatchNorm1d(sizes[n + 1]), nn.ReLU()
                )
                for n in range(len(hidden))
            }
        )
        self.embedding = nn.Linear(sizes[-1], dim)

    def features(self, view: Float[Tensor, "B F"]) -> dict[str, Tensor]:
        """Every named layer, in order, the embedding last."""
        found: dict[str, Tensor] = {}
        flow = self.front(view)
        for name, layer in self.layers.items():
            flow = found[name] = layer(flow)
        found["embedding"] = self.embedding(flow)
        return found

    def forward(self, view: Float[Tensor, "B F"]) -> Float[Tensor, "B D"]:
        return self.features(view)["embedding"]


class Noise(nn.Module):
    """Gaussian noise in training, nothing elsewhere."""

    def __init__(self, deviation: float) -> None:
        super().__init__()
        self.deviation = deviation

    def forward(self, values: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        if not self.training or self.deviation == 0:
            return values
        return values + self.deviation * torch.randn_like(values)
