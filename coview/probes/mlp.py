"""The MLP probe: one hidden layer on frozen features, as the paper uses on STL-10."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from jaxtyping import Float, Int
from torch import Tensor

from coview.probes.descent import Descent, descent_path, mlp_start
from coview.probes.linear import front_end
from coview.probes.scoring import Classifier, Score, fit_and_score

ADAM = Descent(optimiser="adam", learning_rates=(1e-3,), milestones=(), batch=128)


def mlp_probe(
    train: Float[Tensor, "N F"],
    train_label: Int[Tensor, "N"],
    test: Float[Tensor, "M F"],
    test_label: Int[Tensor, "M"],
    *,
    classes: int,
    hidden: int = 200,
    descent: Descent = ADAM,
    weight_decays: Sequence[float] = (0.0,),
    standardise: bool = True,
    seed: int = 0,
) -> Score:
    """Accuracy of a classifier with one hidden layer; of several weight decays one is chosen, as in linear.py."""
    make = partial(mlp_start, classes=classes, hidden=hidden)

    def fit_path(features: Tensor, label: Tensor, weight_decays: Sequence[float]) -> Iterator[Classifier]:
        for weight_decay in weight_decays:
            path = descent_path(make, replace(descent, weight_decay=weight_decay), seed=seed)
            yield from path(features, label, descent.learning_rates[:1])

    train, test = front_end(train, train_label, test, test_label, classes=classes, standardise=standardise)
    return fit_and_score(fit_path, train, train_label, test, test_label, settings=weight_decays, seed=seed)
