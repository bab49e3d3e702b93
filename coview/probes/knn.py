"""The nearest-neighbour probe: weighted votes of the training samples (Wu et al. 2018, section 3.4)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from coview.probes.retrieval import closest
from coview.probes.scoring import Score, check, hits


def knn_probe(
    train: Float[Tensor, "N F"],
    train_label: Int[Tensor, "N"],
    test: Float[Tensor, "M F"],
    test_label: Int[Tensor, "M"],
    *,
    classes: int,
    neighbours: int = 200,
    temperature: float = 0.07,
) -> Score:
    """Accuracy of the nearest training samples' vote, each weighted by exp(cosine / temperature)."""
    check(train, train_label, test, test_label, classes=classes)
    if neighbours < 1 or temperature <= 0:
        raise ValueError(f"wanted neighbours >= 1 and temperature > 0, got {neighbours} and {temperature}")
    cosine, index = closest(test, train, min(neighbours, len(train)))
    votes = count_votes(cosine, train_label[index], classes=classes, temperature=temperature)
    accuracy, top5 = hits(votes, test_label)
    return Score(accuracy, len(train), len(test), top5=top5)


def count_votes(
    cosine: Float[Tensor, "M K"], label: Int[Tensor, "M K"], *, classes: int, temperature: float
) -> Float[Tensor, "M C"]:
    """The votes for each class, in units of the nearest neighbour's, which comes first."""
    weight = ((cosine - cosine[:, :1]) / temperature).exp()  # at most 1: no overflow at a low temperature
    return torch.zeros(len(cosine), classes, dtype=weight.dtype, device=weight.device).scatter_add_(
        1, label.long(), weight
    )
