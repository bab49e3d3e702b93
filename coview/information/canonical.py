"""Tables made plain before a critic sees them: no heavy tails, whitened, turned to canonical directions.

Each map is a function of one view alone, so it adds no information; it keeps what there is but for directions
that the training part is too small to know.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

KNOTS = 256  # of the map of one component
HEAVY = 4.0  # kurtosis above which the tails of a component are pulled in; that of a normal one is 3
FLAT = 1e-6  # share of the largest variance below which a direction is rounding
SAMPLES_PER_DIRECTION = 10
CERTAIN = 1 - 1e-6  # correlations above it drown in the rounding of float32
MOST = 50_000  # samples that the maps are fitted on


class Straight(nn.Module):
    """Each component by itself: to normal scores where its tails are heavy, else standardised."""

    knots: Tensor
    level: Tensor
    mean: Tensor
    scale: Tensor
    bent: Tensor

    def __init__(self, view: Float[Tensor, "N F"]) -> None:
        super().__init__()
        ranks = torch.linspace(0, len(view) - 1, min(KNOTS, len(view)), device=view.device).long()
        level = torch.special.ndtri((ranks + 0.5) / len(view)).to(view)
        knots = view.sort(0).values[ranks].T.contiguous()
        self.register_buffer("level", level)
        self.register_buffer("knots", knots)
        self.register_buffer("mean", view.mean(0))
        self.register_buffer("scale", 1 / view.std(0).clamp(min=torch.finfo(view.dtype).tiny))
        wide = self.standardised(view).double()
        self.register_buffer("bent", (wide**4).mean(0) > HEAVY)

    def forward(self, view: Float[Tensor, "B F"]) -> Float[Tensor, "B F"]:
        return torch.where(self.bent, self._normal_scores(view), self.standardised(view))

    def standardised(self, view: Float[Tensor, "B F"]) -> Float[Tensor, "B F"]:
        return (view - self.mean) * self.scale

    def _normal_scores(self, view: Float[Tensor, "B F"]) -> Float[Tensor, "B F"]:
        rows = view.T.contiguous()
        place = torch.searchsorted(self.knots, rows).clamp(1, len(self.level) - 1)
        low, high = self.knots.gather(1, place - 1), self.knots.gather(1, place)
        share = ((rows - low) / (high - low)).nan_to_num(0.0).clamp(0, 1)
        return torch.lerp(self.level[place - 1], self.level[place], share).T


class Turned(nn.Module):
    """A view made straight, whitened and turned, by maps that were fitted once."""

    mean: Tensor
    matrix: Tensor

    def __init__(self, straight: Straight, mean: Tensor, matrix: Tensor) -> None:
        super().__init__()
        self.straight = straight
        self.register_buffer("mean", mean.float())
        self.register_buffer("matrix", matrix.float())

    def forward(self, view: Float[Tensor, "B F"]) -> Float[Tensor, "B K"]:
        return (self.straight(view) - self.mean) @ self.matrix


def canonical(
    first: Float[Tensor, "N E"], second: Float[Tensor, "N F"]
) -> tuple[Turned, Turned, Float[Tensor, "K"]]:
    """Maps of two views to canonical directions, and the correlation of each pair of directions."""
    sides = whitened(first), whitened(second)
    one, other = (side(view[:MOST]).double() for side, view in zip(sides, (first, second), strict=True))
    correlation = honest_correlations(one, other)
    for side, turn in zip(sides, directions(one, other), strict=True):
        side.matrix = (side.matrix.double() @ turn).float()
    return *sides, correlation.float()


def whitened(view: Float[Tensor, "N F"]) -> Turned:
    """The map of a view to components without correlation."""
    view = view[:MOST].float()
    straight = Straight(view)
    values = straight(view).double()
    mean = values.mean(0)
    return Turned(straight, mean, whiten(values - mean))


def whiten(centred: Float[Tensor, "N F"]) -> Float[Tensor, "F K"]:
    """A matrix to components of variance one, without correlation: at most as many as the samples can tell."""
    variance, axes = torch.linalg.eigh(centred.T @ centred / len(centred))
    most = max(len(centred) // SAMPLES_PER_DIRECTION, 1)
    known = (variance > FLAT * variance[-1]).nonzero().squeeze(1)[-most:]
    return axes[:, known] / variance[known].sqrt()


def directions(
    first: Float[Tensor, "N E"], second: Float[Tensor, "N F"]
) -> tuple[Float[Tensor, "E E"], Float[Tensor, "F F"]]:
    """Rotations of two whitened views to where each direction of one is correlated with one of the other at most."""
    left, _, right = torch.linalg.svd(first.T @ second / len(first))
    return left, right.T


def honest_correlations(first: Float[Tensor, "N E"], second: Float[Tensor, "N F"]) -> Float[Tensor, "K"]:
    """Canonical correlations, each half of the samples measured along the directions of the other half."""
    half = torch.arange(len(first), device=first.device) < len(first) // 2
    found = (_measured(first, second, half) + _measured(first, second, ~half)) / 2
    return found.nan_to_num(0.0).clamp(0.0, CERTAIN)


def _measured(first: Tensor, second: Tensor, there: Bool[Tensor, "N"]) -> Float[Tensor, "K"]:
    left, right = directions(first[~there], second[~there])
    count = min(left.shape[1], right.shape[1])
    one, other = first[there] @ left[:, :count], second[there] @ right[:, :count]
    return (one * other).mean(0) / (one.square().mean(0) * other.square().mean(0)).sqrt()
