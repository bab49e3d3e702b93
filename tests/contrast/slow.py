"""The formulas of the paper as plain loops in float64, to hold the fast ones against."""

import math

from torch import Tensor


def softmax_anchor(query: list[float], keys: list[list[float]], match: int) -> float:
    """-log h(match) / sum h (equation 2)."""
    h = [math.exp(sum(q * k for q, k in zip(query, key, strict=True))) for key in keys]
    return -math.log(h[match] / sum(h))


def nce_anchor(query: list[float], keys: list[list[float]], match: int, samples: int, z: float) -> float:
    """-log P(D=1 | match) - sum log P(D=0 | noise) (appendix B.1)."""
    noise = len(keys) - 1
    total = 0.0
    for column, key in enumerate(keys):
        p = math.exp(sum(q * k for q, k in zip(query, key, strict=True))) / z
        posterior = p / (p + noise / samples)
        total -= math.log(posterior) if column == match else math.log(1 - posterior)
    return total


def slope(function, query: list[float], step: float = 1e-6) -> list[float]:
    """Central differences."""
    found = []
    for place in range(len(query)):
        up, down = list(query), list(query)
        up[place] += step
        down[place] -= step
        found.append((function(up) - function(down)) / (2 * step))
    return found


def keys_of(keys: Tensor, valid: Tensor | None, anchor: int, match: int) -> tuple[list[list[float]], int]:
    """The keys one anchor chooses from, and where its match is among them."""
    mine = keys if keys.ndim == 2 else keys[anchor]
    if valid is None:
        return mine.tolist(), match
    there = valid if valid.ndim == 1 else valid[anchor]
    return mine[there].tolist(), int(there[:match].sum())
