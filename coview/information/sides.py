"""The two sides of a critic: each view made ready, through its network, and as its factor of a Gaussian score."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from coview.information.canonical import canonical, whitened
from coview.information.towers import Scaled, tower

QUICK = 8.0  # times the learning rate of the networks is that of the Gaussian score's weights


class Said(NamedTuple):
    """What the networks say of a batch of both views, and the two factors of the Gaussian score."""

    first: Float[Tensor, "B D"]
    second: Float[Tensor, "B D"]
    query: Float[Tensor, "B G"]
    key: Float[Tensor, "B G"]


class GaussianScore(nn.Module):
    """log p(v1, v2) / p(v1) p(v2) of Gaussians correlated one to one, but for a constant, as a product of two sides.

    Each direction has a weight that is learned, since views need not be Gaussian.
    """

    gain: Tensor
    bend: Tensor

    def __init__(self, correlation: Float[Tensor, "K"]) -> None:
        super().__init__()
        spread = 1 - correlation**2
        self.register_buffer("gain", correlation / spread)
        self.register_buffer("bend", -(correlation**2) / (2 * spread))
        self.log_weight = nn.Parameter(torch.zeros_like(correlation))

    def query(self, first: Float[Tensor, "B _"]) -> Float[Tensor, "B _"]:
        mine, weight = first[:, : len(self.gain)], self._weight()
        own = mine**2 @ (self.bend * weight)
        return torch.cat([mine * (self.gain * weight), own[:, None], torch.ones_like(mine[:, :1])], 1)

    def key(self, second: Float[Tensor, "B _"]) -> Float[Tensor, "B _"]:
        mine = second[:, : len(self.gain)]
        own = mine**2 @ (self.bend * self._weight())
        return torch.cat([mine, torch.ones_like(mine[:, :1]), own[:, None]], 1)

    def _weight(self) -> Float[Tensor, "K"]:
        return (QUICK * self.log_weight).exp()


class Sides(nn.Module):
    """Views in, numbers out, one row a sample: all that a critic can do before samples are paired."""

    def __init__(
        self,
        ready: Sequence[nn.Module],
        towers: Sequence[nn.Sequential],
        gaussian: GaussianScore | None,
    ) -> None:
        super().__init__()
        self.ready, self.towers, self.gaussian = nn.ModuleList(ready), nn.ModuleList(towers), gaussian

    @property
    def last(self) -> tuple[nn.Module, nn.Module]:
        """The layers that the networks end with."""
        first, second = (list(tower.children())[-1] for tower in self.towers)
        return first, second

    def forward(self, first: Float[Tensor, "B ..."], second: Float[Tensor, "B ..."]) -> Said:
        one, other = self.ready[0](first), self.ready[1](second)
        query = one.new_zeros(len(one), 0) if self.gaussian is None else self.gaussian.query(one)
        key = one.new_zeros(len(one), 0) if self.gaussian is None else self.gaussian.key(other)
        return Said(self.towers[0](one), self.towers[1](other), query, key)


def make_sides(
    first: Float[Tensor, "N ..."], second: Float[Tensor, "N ..."], *, outputs: int, width: int, gaussian: bool
) -> Sides:
    """Sides for views such as these samples to train on; [N C H W] and [N T C H W] are pictures, others tables.

    Two tables are turned to their canonical directions; with `gaussian` the critic starts as the best one for
    Gaussians of these correlations, and the networks learn what to add to it.
    """
    views, score = (first, second), None
    if any(view.ndim >= 4 for view in views):
        ready = [Scaled(view) if view.ndim >= 4 else _of_table(whitened(view.flatten(1))) for view in views]
    else:
        *turned, correlation = canonical(first.flatten(1), second.flatten(1))
        ready = [_of_table(one) for one in turned]
        score = GaussianScore(correlation) if gaussian else None
    with torch.no_grad():
        seen = [make(view[:2]) for make, view in zip(ready, views, strict=True)]
    towers = [tower(example, outputs, width=width) for example in seen]
    return Sides(ready, towers, score).to(first.device)


def _of_table(turned: nn.Module) -> nn.Sequential:
    return nn.Sequential(nn.Flatten(), turned)
