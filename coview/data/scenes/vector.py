"""Vectors as three tensors, one a coordinate: work runs along memory, and sums come in the same order always."""

from collections.abc import Callable

from torch import Tensor

Triple = tuple[Tensor, Tensor, Tensor]


def triple(coordinate: Callable[[int], Tensor]) -> Triple:
    """A vector from what gives its coordinates."""
    return coordinate(0), coordinate(1), coordinate(2)


def split(vectors: Tensor, dimension: int) -> Triple:
    """A tensor of vectors by coordinate."""
    x, y, z = vectors.unbind(dimension)
    return x, y, z


def dot(first: Triple, second: Triple) -> Tensor:
    """The inner product."""
    return first[0] * second[0] + first[1] * second[1] + first[2] * second[2]


def unit(vector: Triple) -> Triple:
    """The same direction, length 1."""
    scale = dot(vector, vector).sqrt().reciprocal()
    return triple(lambda k: vector[k] * scale)
