"""What every probe with labels shares: settings are chosen inside the training set, the test set is looked at once."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

ROWS = 8192  # how many samples a classifier is shown at a time

Classifier = Callable[[Tensor], Tensor]
"""From features [N F] to scores [N C]."""

FitPath = Callable[[Tensor, Tensor, Sequence[float]], Iterable[Classifier]]
"""From features, labels and settings (weight decays, learning rates) to one classifier for each, in order."""


@dataclass(frozen=True)
class Score:
    """How well a probe tells the classes of the test samples apart, and how it was fitted."""

    accuracy: float  # percent of the test samples
    train: int
    test: int
    weight_decay: float | None = None
    held_out: float | None = (
        None  # percent of the held-out training samples; None: there was nothing to choose
    )
    learning_rate: float | None = None
    top5: float | None = None  # percent whose class is among the five highest; None: of no more than five


def fit_and_score(
    fit_path: FitPath,
    train: Float[Tensor, "N F"],
    train_label: Int[Tensor, "N"],
    test: Float[Tensor, "M F"],
    test_label: Int[Tensor, "M"],
    *,
    settings: Sequence[float],
    what: str = "weight_decay",
    seed: int,
) -> Score:
    """Choose a setting on a held-out part of the training set, fit it all, look at the test set once."""
    if not settings or min(settings) < 0:
        name = what.replace("_", " ")
        raise ValueError(f"wanted one or more {name}s of at least 0, got {list(settings)}")
    setting, held_out = settings[0], None
    if len(settings) > 1:
        part = held_out_part(train_label, seed=seed)
        setting, held_out = choose(fit_path, train, train_label, part, settings)
    (classifier,) = fit_path(train, train_label, [setting])
    accuracy, top5 = hits(scores_of(classifier, test), test_label)
    chosen: dict[str, Any] = {what: setting}
    return Score(accuracy, len(train), len(test), held_out=held_out, top5=top5, **chosen)


def choose(
    fit_path: FitPath,
    features: Float[Tensor, "N F"],
    label: Int[Tensor, "N"],
    held_out: Bool[Tensor, "N"],
    settings: Sequence[float],
) -> tuple[float, float]:
    """The setting that is best on the held-out part, the highest of equals, and its accuracy there.

    They are tried from the highest down; two in a row that are more than a point below the best end it.
    """
    falling = sorted(settings, reverse=True)
    fitted = fit_path(features[~held_out], label[~held_out], falling)
    unseen, unseen_label = features[held_out], label[held_out]
    accuracies: list[float] = []
    for classifier in fitted:
        accuracies.append(accuracy_of(classifier, unseen, unseen_label))
        if len(accuracies) > 2 and max(accuracies[-2:]) < max(accuracies) - 1:
            break
    best = max(range(len(accuracies)), key=accuracies.__getitem__)
    return falling[best], accuracies[best]


def held_out_part(label: Int[Tensor, "N"], *, seed: int) -> Bool[Tensor, "N"]:
    """A fifth of each class, at least one sample of a class with two or more; the same on every device."""
    held_out = torch.zeros(len(label), dtype=torch.bool)
    shuffled = torch.randperm(len(label), generator=torch.Generator().manual_seed(seed))
    known = label.cpu()[shuffled]
    for wanted in known.unique():
        members = shuffled[known == wanted]
        held_out[members[: max(round(len(members) / 5), int(len(members) > 1))]] = True
    if not held_out.any():
        raise ValueError(
            "every class has one training sample, none can be held out: give a single weight decay"
        )
    return held_out.to(label.device)


def check(
    train: Float[Tensor, "N F"],
    train_label: Int[Tensor, "N"],
    test: Float[Tensor, "M F"],
    test_label: Int[Tensor, "M"],
    *,
    classes: int,
) -> None:
    """Refuse what no probe can be fitted to or scored on."""
    if classes < 2:
        raise ValueError(f"a probe tells classes apart and needs at least 2, got classes={classes}")
    for part, features, label in (("training", train, train_label), ("test", test, test_label)):
        if not len(label):
            raise ValueError(f"the {part} set has no samples")
        if not all(rows.isfinite().all() for rows in features.split(ROWS)):
            raise ValueError(f"the {part} features hold NaN or infinity: look at the encoder that made them")
        low, high = int(label.min()), int(label.max())
        if low < 0 or high >= classes:
            raise ValueError(f"the {part} labels go from {low} to {high}, wanted 0 to {classes - 1}")
    absent = (train_label.bincount(minlength=classes) == 0).nonzero().flatten().tolist()
    if absent:
        raise ValueError(
            f"classes {absent} have no training sample: add some, or number the classes that are there from 0"
        )


@torch.no_grad()
def accuracy_of(classifier: Classifier, features: Float[Tensor, "N F"], label: Int[Tensor, "N"]) -> float:
    """How many samples a classifier gives their label, in percent."""
    return percent_right(scores_of(classifier, features), label)


@torch.no_grad()
def scores_of(classifier: Classifier, features: Float[Tensor, "N F"]) -> Float[Tensor, "N C"]:
    """What a classifier says of many samples, some at a time."""
    return torch.cat([classifier(full(rows)) for rows in features.split(ROWS)])


def hits(scores: Float[Tensor, "N C"], label: Int[Tensor, "N"]) -> tuple[float, float | None]:
    """How many samples have their label at the highest score, and among the five highest, in percent.

    Of five classes or fewer all are among the highest, which says nothing: None.
    """
    five = percent_right(scores, label, among=5) if scores.shape[1] > 5 else None
    return percent_right(scores, label), five


def percent_right(scores: Float[Tensor, "N C"], label: Int[Tensor, "N"], *, among: int = 1) -> float:
    """How many samples have their label among so many highest scores, in percent."""
    best = scores.argmax(1, keepdim=True) if among == 1 else scores.topk(among).indices
    right = (best == label[:, None]).any(1)
    return 100 * right.double().mean().item()


def full(features: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Features in float32 at least: they may be kept in half of it, but nothing is fitted in that."""
    return features if features.dtype == torch.float64 else features.float()
