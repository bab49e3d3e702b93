"""The linear probe: standardised features, a softmax classifier, weight decay chosen in the training set."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

WEIGHT_DECAYS = (10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4)  # for features of unit variance

Classifier = Callable[[Tensor], Tensor]
"""From features [N F] to scores [N C]."""

FitPath = Callable[[Tensor, Tensor, Sequence[float]], Iterable[Classifier]]
"""From features, labels and weight decays to one fitted classifier for each weight decay, in order."""


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


@dataclass(frozen=True)
class Linear:
    """A softmax classifier."""

    weight: Float[Tensor, "C F"]
    bias: Float[Tensor, "C"]

    def __call__(self, features: Float[Tensor, "N F"]) -> Float[Tensor, "N C"]:
        return functional.linear(features, self.weight, self.bias)


def linear_probe(
    train: Float[Tensor, "N F"],
    train_label: Int[Tensor, "N"],
    test: Float[Tensor, "M F"],
    test_label: Int[Tensor, "M"],
    *,
    classes: int,
    weight_decays: Sequence[float] = WEIGHT_DECAYS,
    standardise: bool = True,
    seed: int = 0,
) -> Score:
    """Accuracy of a linear classifier; `standardise=False` is the paper's form, True the authors' advice."""

    def fit_path(features: Tensor, label: Tensor, weight_decays: Sequence[float]) -> Iterator[Linear]:
        start = None
        for weight_decay in weight_decays:
            start = fit_linear(features, label, classes=classes, weight_decay=weight_decay, start=start)
            yield start

    train, test = front_end(train, train_label, test, test_label, classes=classes, standardise=standardise)
    return fit_and_score(
        fit_path, train, train_label, test, test_label, weight_decays=weight_decays, seed=seed
    )


def fit_linear(
    features: Float[Tensor, "N F"],
    label: Int[Tensor, "N"],
    *,
    classes: int,
    weight_decay: float,
    start: Linear | None = None,
    tolerance: float = 1e-5,
    steps: int = 500,
) -> Linear:
    """Minimise mean cross-entropy + weight_decay / 2 |weight|^2, down to a gradient within `tolerance`."""
    start = start or Linear(features.new_zeros(classes, features.shape[1]), features.new_zeros(classes))
    weight = start.weight.clone().requires_grad_()
    bias = start.bias.clone().requires_grad_()
    descent = torch.optim.LBFGS(
        [weight, bias],
        max_iter=steps,
        history_size=50,
        tolerance_grad=tolerance,
        tolerance_change=1e-4 * tolerance,
        line_search_fn="strong_wolfe",
    )

    def objective() -> Tensor:
        descent.zero_grad()
        loss = functional.cross_entropy(functional.linear(features, weight, bias), label.long())
        loss = loss + weight_decay / 2 * weight.square().sum()
        loss.backward()
        return loss

    descent.step(objective)  # pyright: ignore[reportArgumentType]
    return Linear(weight.detach(), bias.detach())


def fit_and_score(
    fit_path: FitPath,
    train: Float[Tensor, "N F"],
    train_label: Int[Tensor, "N"],
    test: Float[Tensor, "M F"],
    test_label: Int[Tensor, "M"],
    *,
    weight_decays: Sequence[float],
    seed: int,
) -> Score:
    """Choose the weight decay on a held-out part of the training set, fit it all, look at the test set once."""
    if not weight_decays or min(weight_decays) < 0:
        raise ValueError(f"wanted one or more weight decays of at least 0, got {list(weight_decays)}")
    weight_decay, held_out = weight_decays[0], None
    if len(weight_decays) > 1:
        part = held_out_part(train_label, seed=seed)
        weight_decay, held_out = choose(fit_path, train, train_label, part, weight_decays)
    (classifier,) = fit_path(train, train_label, [weight_decay])
    accuracy = percent_right(classifier(test), test_label)
    return Score(accuracy, len(train), len(test), weight_decay, held_out)


def choose(
    fit_path: FitPath,
    features: Float[Tensor, "N F"],
    label: Int[Tensor, "N"],
    held_out: Bool[Tensor, "N"],
    weight_decays: Sequence[float],
) -> tuple[float, float]:
    """The weight decay that is best on the held-out part, the strongest of equals, and its accuracy there."""
    falling = sorted(weight_decays, reverse=True)  # each fit starts from the smoother one before it
    fitted = fit_path(features[~held_out], label[~held_out], falling)
    accuracies = [percent_right(classifier(features[held_out]), label[held_out]) for classifier in fitted]
    best = max(range(len(falling)), key=accuracies.__getitem__)
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


def front_end(
    train: Float[Tensor, "N F"],
    train_label: Int[Tensor, "N"],
    test: Float[Tensor, "M F"],
    test_label: Int[Tensor, "M"],
    *,
    classes: int,
    standardise: bool,
) -> tuple[Float[Tensor, "N F"], Float[Tensor, "M F"]]:
    """Check features and labels; give the features a mean of 0 and a deviation of 1 on the training set."""
    check(train, train_label, test, test_label, classes=classes)
    train, test = train.detach(), test.detach()
    if train.dtype != torch.float64:
        train, test = train.float(), test.float()
    if not standardise:
        return train, test
    deviation, mean = torch.std_mean(train, 0, correction=0)
    # a feature that is constant in training (a dead unit) tells nothing: it is dropped, not blown up
    alive = deviation > 10 * torch.finfo(train.dtype).eps * mean.abs()
    scale = torch.where(alive, 1 / deviation, 0.0)
    return (train - mean) * scale, (test - mean) * scale


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
        if not features.isfinite().all():
            raise ValueError(f"the {part} features hold NaN or infinity: look at the encoder that made them")
        low, high = int(label.min()), int(label.max())
        if low < 0 or high >= classes:
            raise ValueError(f"the {part} labels go from {low} to {high}, wanted 0 to {classes - 1}")
    absent = (train_label.bincount(minlength=classes) == 0).nonzero().flatten().tolist()
    if absent:
        raise ValueError(
            f"classes {absent} have no training sample: add some, or number the classes that are there from 0"
        )


def percent_right(scores: Float[Tensor, "N C"], label: Int[Tensor, "N"]) -> float:
    """How many samples have their highest score at their label, in percent."""
    return 100 * (scores.argmax(1) == label).double().mean().item()
