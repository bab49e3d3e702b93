"""The linear probe: standardised features, a softmax classifier, weight decay chosen in the training set."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from coview.probes.scoring import Score, check, fit_and_score, full

WEIGHT_DECAYS = (10.0, 1.0, 0.1, 0.01, 1e-3, 1e-4)  # for features of unit variance
STEPS, TRIAL_STEPS = (
    500,
    100,
)  # of L-BFGS: for the classifier that is scored, and for each that is tried before
OPERATIONS = (
    1e16  # what one probe may cost: a few minutes of an H200 in float32, for ImageNet's size and no other
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
    """Accuracy of a linear classifier at its optimum, with the weight decay that is best on a held-out part."""

    def fit_path(features: Tensor, label: Tensor, weight_decays: Sequence[float]) -> Iterator[Linear]:
        start, steps = None, affordable(features, classes, tries=len(weight_decays))
        for weight_decay in weight_decays:  # from strong to weak: each starts from the smoother one before it
            start = fit_linear(
                features, label, classes=classes, weight_decay=weight_decay, start=start, steps=steps
            )
            yield start

    train, test = front_end(train, train_label, test, test_label, classes=classes, standardise=standardise)
    return fit_and_score(
        fit_path, full(train), train_label, test, test_label, settings=weight_decays, seed=seed
    )


def affordable(features: Float[Tensor, "N F"], classes: int, *, tries: int) -> int:
    """How many steps each of several fits may take: all of them together cost half of what a probe may."""
    step = (
        5 * features.numel() * classes
    )  # 4 for the loss and its gradient, and a fourth more for line searches
    most = TRIAL_STEPS if tries > 1 else STEPS
    return max(min(most, int(OPERATIONS / 2 / tries / step)), 10)


def fit_linear(
    features: Float[Tensor, "N F"],
    label: Int[Tensor, "N"],
    *,
    classes: int,
    weight_decay: float,
    start: Linear | None = None,
    tolerance: float = 1e-5,
    steps: int = STEPS,
) -> Linear:
    """Minimise mean cross-entropy + weight_decay / 2 |weight|^2, down to a gradient within `tolerance`."""
    start = start or Linear(features.new_zeros(classes, features.shape[1]), features.new_zeros(classes))
    weight = start.weight.clone().requires_grad_()
    bias = start.bias.clone().requires_grad_()
    label = label.long()
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
        loss = functional.cross_entropy(functional.linear(features, weight, bias), label)
        loss = loss + weight_decay / 2 * weight.square().sum()
        loss.backward()
        return loss

    descent.step(objective)  # pyright: ignore[reportArgumentType]
    return Linear(weight.detach(), bias.detach())


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
    if not standardise:
        return train, test
    train, test = full(train), full(test)
    deviation, mean = torch.std_mean(train, 0, correction=0)
    # a feature that is constant in training (a dead unit) tells nothing: it is dropped, not blown up
    alive = deviation > 10 * torch.finfo(train.dtype).eps * mean.abs()
    scale = torch.where(alive, 1 / deviation, 0.0)
    return (train - mean).mul_(scale), (test - mean).mul_(scale)
