"""Critics of pairs: a number for any two samples of two views, high where they belong together.

`encode` says what there is to say of each sample once; `choices` then compares samples with each other.
"""

import math
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from coview.information.bounds import Choices
from coview.information.sides import Sides, make_sides

SCORES = 2**22  # numbers held at a time
SHIFTS = 256  # wrong partners of each anchor by which a concatenated critic is judged


@runtime_checkable
class PairCritic(Protocol):
    """What training and judging ask of a critic; it is an `nn.Module`."""

    def encode(self, first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]: ...

    def choices(self, query: Tensor, key: Tensor, generator: torch.Generator | None = None) -> Choices: ...


MakeCritic = Callable[[Tensor, Tensor], nn.Module]
"""From samples of two views that are there to train on, to a fresh critic of such views."""


class Separable(nn.Module):
    """The product of what two networks say: all pairs of N samples cost N of each."""

    def __init__(self, sides: Sides) -> None:
        super().__init__()
        self.sides = sides
        _silence(sides.last[0], slice(-1, None))  # the first side's own term
        _silence(sides.last[1], slice(None))

    def encode(
        self, first: Float[Tensor, "B ..."], second: Float[Tensor, "B ..."]
    ) -> tuple[Float[Tensor, "B D"], Float[Tensor, "B D"]]:
        """Queries and keys: their product is the score, and each side also has a term of its own."""
        said = self.sides(first, second)
        one = torch.ones_like(said.first[:, :1])
        query = torch.cat([said.first, one, said.query], 1)
        key = torch.cat([said.second[:, :-1], one, said.second[:, -1:], said.key], 1)
        return query, key

    def choices(
        self, query: Float[Tensor, "N D"], key: Float[Tensor, "N D"], generator: torch.Generator | None = None
    ) -> Choices:
        """Each anchor chooses among all N."""
        rows = torch.arange(len(query), device=query.device)
        parts = [
            _log_sum_of_others(query[part], key, part) for part in rows.split(max(SCORES // len(key), 1))
        ]
        wrong = torch.cat(parts) - math.log(len(key) - 1)
        return Choices((query * key).sum(1), wrong, len(key) - 1)


class Concatenated(nn.Module):
    """One network that sees both samples of a pair: each anchor is compared with a few wrong partners."""

    def __init__(self, sides: Sides, *, width: int, shifts: int) -> None:
        super().__init__()
        self.sides, self.width, self.shifts = sides, width, shifts
        self.head = nn.Sequential(nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))
        _silence(self.head[-1], slice(None))

    def encode(
        self, first: Float[Tensor, "B ..."], second: Float[Tensor, "B ..."]
    ) -> tuple[Float[Tensor, "B D"], Float[Tensor, "B D"]]:
        """What the first layer that sees both adds up."""
        said = self.sides(first, second)
        return torch.cat([said.first, said.query], 1), torch.cat([said.second, said.key], 1)

    def choices(
        self, query: Float[Tensor, "N D"], key: Float[Tensor, "N D"], generator: torch.Generator | None = None
    ) -> Choices:
        """The partners of the samples that come some places later, the places drawn anew each time."""
        count = min(self.shifts if self.training else SHIFTS, len(key) - 1)
        shifts = torch.randperm(len(key) - 1, generator=generator, device=key.device)[:count] + 1
        rows = torch.arange(len(key), device=key.device)
        some = max(SCORES // (len(key) * self.width), 1)
        parts = [self.score(query, key[(rows + part[:, None]) % len(key)]) for part in shifts.split(some)]
        return Choices(self.score(query, key), torch.cat(parts).logsumexp(0) - math.log(count), count)

    def score(self, query: Float[Tensor, "N D"], key: Float[Tensor, "*S N D"]) -> Float[Tensor, "*S N"]:
        both = self.head(query[:, : self.width] + key[..., : self.width]).squeeze(-1)
        return both + (query[:, self.width :] * key[..., self.width :]).sum(-1)


def separable(
    first: Tensor, second: Tensor, *, width: int = 128, dim: int = 32, gaussian: bool = True
) -> Separable:
    """A separable critic for tables and pictures."""
    return Separable(make_sides(first, second, outputs=dim + 1, width=width, gaussian=gaussian))


def concatenated(
    first: Tensor, second: Tensor, *, width: int = 128, shifts: int = 8, gaussian: bool = True
) -> Concatenated:
    """A concatenated critic for tables and pictures, trained on some wrong partners of each anchor."""
    sides = make_sides(first, second, outputs=width, width=width, gaussian=gaussian)
    return Concatenated(sides, width=width, shifts=shifts).to(first.device)


def _log_sum_of_others(
    query: Float[Tensor, "B D"], key: Float[Tensor, "N D"], rows: Tensor
) -> Float[Tensor, "B"]:
    own = rows[:, None] == torch.arange(len(key), device=key.device)
    return (query @ key.T).masked_fill(own, -torch.inf).logsumexp(1)


def _silence(layer: nn.Module, rows: slice) -> None:
    """Some outputs of a layer are zero until it has learned."""
    assert isinstance(layer, nn.Linear)
    with torch.no_grad():
        layer.weight[rows] = 0
        layer.bias[rows] = 0
