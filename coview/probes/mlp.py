"""The MLP probe: one hidden layer on frozen features, as the paper uses on STL-10."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from coview.probes.linear import Linear, Score, fit_and_score, front_end


@dataclass(frozen=True)
class TwoLayers:
    """A classifier with one hidden layer of rectified units."""

    hidden: Linear
    output: Linear

    def __call__(self, features: Float[Tensor, "N F"]) -> Float[Tensor, "N C"]:
        return self.output(functional.relu(self.hidden(features)))

    def parameters(self) -> list[Tensor]:
        """What is learned."""
        return [self.hidden.weight, self.hidden.bias, self.output.weight, self.output.bias]


def mlp_probe(
    train: Float[Tensor, "N F"],
    train_label: Int[Tensor, "N"],
    test: Float[Tensor, "M F"],
    test_label: Int[Tensor, "M"],
    *,
    classes: int,
    hidden: int = 200,
    epochs: int = 100,
    weight_decays: Sequence[float] = (0.0,),
    standardise: bool = True,
    seed: int = 0,
) -> Score:
    """Accuracy of a classifier with one hidden layer; of several weight decays one is chosen, as in linear.py."""

    def fit_path(features: Tensor, label: Tensor, weight_decays: Sequence[float]) -> Iterator[TwoLayers]:
        for weight_decay in weight_decays:
            generator = torch.Generator().manual_seed(seed)
            start = _at_random(features, hidden, classes, generator)
            yield fit_mlp(
                start, features, label, epochs=epochs, weight_decay=weight_decay, generator=generator
            )

    train, test = front_end(train, train_label, test, test_label, classes=classes, standardise=standardise)
    return fit_and_score(
        fit_path, train, train_label, test, test_label, weight_decays=weight_decays, seed=seed
    )


@torch.enable_grad()
def fit_mlp(
    start: TwoLayers,
    features: Float[Tensor, "N F"],
    label: Int[Tensor, "N"],
    *,
    generator: torch.Generator,
    epochs: int = 100,
    weight_decay: float = 0.0,
    learning_rate: float = 1e-3,
    batch: int = 128,
) -> TwoLayers:
    """Train a classifier from where it starts by Adam on minibatches drawn in the generator's order."""
    weights = [values.clone().requires_grad_() for values in start.parameters()]
    classifier = TwoLayers(Linear(*weights[:2]), Linear(*weights[2:]))
    descent = torch.optim.Adam(weights, lr=learning_rate, weight_decay=weight_decay)
    for _ in range(epochs):
        for rows in torch.randperm(len(features), generator=generator).to(features.device).split(batch):
            loss = functional.cross_entropy(classifier(features[rows]), label[rows].long())
            descent.zero_grad()
            loss.backward()
            descent.step()
    fitted = [values.detach() for values in weights]
    return TwoLayers(Linear(*fitted[:2]), Linear(*fitted[2:]))


def _at_random(
    features: Float[Tensor, "N F"], hidden: int, classes: int, generator: torch.Generator
) -> TwoLayers:
    """A classifier for such features with PyTorch's default start, the same on every device."""

    def layer(inputs: int, outputs: int) -> Linear:
        bound = inputs**-0.5
        weight = torch.empty(outputs, inputs).uniform_(-bound, bound, generator=generator)
        bias = torch.empty(outputs).uniform_(-bound, bound, generator=generator)
        return Linear(weight.to(features), bias.to(features))

    return TwoLayers(layer(features.shape[1], hidden), layer(hidden, classes))
