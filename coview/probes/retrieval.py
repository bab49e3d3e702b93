"""Cross-view retrieval: does the embedding of one view find the same sample's embedding of another view?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from coview.probes.features import Features

SCORES = 2**26  # how many scores are held at a time: 256 MiB


@dataclass(frozen=True)
class Recall:
    """How often the own target is among the k nearest, in percent by k, and how often it is by chance."""

    at: dict[int, float]
    chance: dict[int, float]
    samples: int


def retrieval(
    query: Float[Tensor, "N D"], target: Float[Tensor, "N D"], *, at: Sequence[int] = (1,)
) -> Recall:
    """Rank all N targets by their cosine to each query; the own target is in the row of its query."""
    if not at or min(at) < 1:
        raise ValueError(f"recall is counted at one or more k of at least 1, got {list(at)}")
    if len(query) < 2:
        raise ValueError(f"retrieval needs at least 2 samples to choose from, got {len(query)}")
    query, target = _directions("query", query), _directions("target", target)
    ahead = torch.cat([_ahead(rows, query, target) for rows in _chunks(query, target)])
    recall = {k: 100 * (ahead < k).double().mean().item() for k in at}
    chance = {k: min(100 * k / len(query), 100.0) for k in at}
    return Recall(recall, chance, len(query))


def cross_view_retrieval(features: Features, at: Sequence[int] = (1,)) -> dict[str, Recall]:
    """Retrieval for every directed pair of views ("a->b"), among the samples that have both."""
    sizes = {name: values.shape[1] for name, values in features.values.items()}
    if len(sizes) < 2 or len(set(sizes.values())) > 1:
        raise ValueError(f"wanted two or more views with embeddings of one size, got {sizes}")
    recalls = {}
    for anchor, target in permutations(features.values, 2):
        both = features.present[anchor] & features.present[target]
        if both.sum() < 2:
            raise ValueError(
                f"views '{anchor}' and '{target}' are both there in {int(both.sum())} samples, wanted 2"
            )
        recalls[f"{anchor}->{target}"] = retrieval(
            features.values[anchor][both], features.values[target][both], at=at
        )
    return recalls


def nearest(query: Float[Tensor, "Q D"], target: Float[Tensor, "T D"], k: int) -> Int[Tensor, "Q {k}"]:
    """The rows of the k targets with the highest cosine to each query, highest first."""
    return closest(query, target, k)[1]


def closest(
    query: Float[Tensor, "Q D"], target: Float[Tensor, "T D"], k: int
) -> tuple[Float[Tensor, "Q {k}"], Int[Tensor, "Q {k}"]]:
    """The k highest cosines to each query, highest first, and the rows of their targets."""
    if not 1 <= k <= len(target):
        raise ValueError(f"wanted a k from 1 to the {len(target)} targets there are, got {k}")
    query, target = _directions("query", query), _directions("target", target)
    found = [(query[rows] @ target.T).topk(k, dim=1) for rows in _chunks(query, target)]
    return torch.cat([values for values, _ in found]), torch.cat([index for _, index in found])


def _ahead(
    rows: Int[Tensor, "R"], query: Float[Tensor, "N D"], target: Float[Tensor, "N D"]
) -> Int[Tensor, "R"]:
    """How many other targets score at least as high as the own one, up to rounding."""
    scores = query[rows] @ target.T
    own = scores.gather(1, rows[:, None])
    # ties count against us: a constant embedding must find nothing
    rounding = 10 * torch.finfo(scores.dtype).eps
    return (scores >= own - rounding).sum(1) - 1


def _chunks(query: Float[Tensor, "Q D"], target: Float[Tensor, "T D"]) -> Iterator[Int[Tensor, "_"]]:
    """The rows of the queries, as many at a time as keep their scores small."""
    yield from torch.arange(len(query), device=query.device).split(max(SCORES // len(target), 1))


def _directions(name: str, embedding: Float[Tensor, "N D"]) -> Float[Tensor, "N D"]:
    """Embeddings as unit vectors, in float32 at least."""
    if not embedding.isfinite().all():
        raise ValueError(f"the {name} embeddings hold NaN or infinity: look at the encoder that made them")
    embedding = embedding if embedding.dtype == torch.float64 else embedding.float()
    return functional.normalize(embedding.detach(), dim=1)
