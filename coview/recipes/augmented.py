"""Probes fitted to augmented samples, whose features are made anew each epoch: what the paper does on ImageNet."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch
from torch import Tensor, nn

from coview.data import Dataset
from coview.probes import PROTOCOLS, Descent, Features, Score, concatenate, descend, extract_layers
from coview.probes.descent import Epochs, started
from coview.probes.features import share
from coview.probes.layers import NUMBERS, all_features, mode
from coview.probes.protocol import STARTS
from coview.probes.scoring import accuracy_of, held_out_part, hits, scores_of
from coview.recipes.measure import as_trained, batches, count_classes, fastest_device, labelled
from coview.recipes.probing import Asked, Probe, Probed
from coview.training import Recipe
from coview.training.loop import epoch_order
from coview.views import cut

Said = Mapping[str, Mapping[str, Tensor]]
"""What encoders say of a batch, by view and layer."""


class Reader(nn.Module):
    """A classifier that reads some views at a layer, of all that is said."""

    def __init__(self, probe: Probe, classifier: nn.Module) -> None:
        super().__init__()
        self.probe, self.classifier = probe, classifier

    def forward(self, said: Said) -> Tensor:
        return self.classifier(torch.cat([said[view][self.probe.layer] for view in self.probe.views], 1))

    def accuracy(self, found: Mapping[str, Features]) -> float:
        """Percent right of samples that stand still."""
        return accuracy_of(self.classifier, *concatenate(found[self.probe.layer], self.probe.views))

    def hits(self, found: Mapping[str, Features]) -> tuple[float, float | None]:
        """The same, and percent of those whose class is among the five highest."""
        features, label = concatenate(found[self.probe.layer], self.probe.views)
        return hits(scores_of(self.classifier, features), label)


@dataclass(frozen=True)
class Frozen:
    """Encoders that stand still, their layers, and the samples that readers of them are fitted to."""

    encoders: nn.ModuleDict
    recipe: Recipe
    layers: tuple[str, ...]
    data: Dataset

    def fit(self, numbers: Tensor, wanted: Sequence[tuple[Probe, float]], descent: Descent) -> list[Reader]:
        """A reader for each probe and learning rate, all from the same passes over the samples of these numbers."""
        sizes, readers = self.still(self.data, numbers[:2]), []
        for probe, _ in wanted:
            make = partial(STARTS[probe.kind], classes=count_classes(self.data))
            generator = torch.Generator().manual_seed(self.recipe.seed)
            classifier = started(make, width(sizes, probe), descent, generator)
            readers.append(Reader(probe, classifier).to(self.data.device))
        with mode(self.encoders.values(), training=False):
            descend(readers, [rate for _, rate in wanted], self.epochs(numbers, descent.batch), descent)
        return readers

    def choose(
        self, numbers: Tensor, probes: Sequence[Probe], descent: Descent
    ) -> list[tuple[float, float | None]]:
        """The learning rate of each probe, and its accuracy on held-out samples, on which it was the best."""
        rates = descent.learning_rates
        if len(rates) == 1:
            return [(rates[0], None)] * len(probes)
        assert self.data.label is not None
        part = held_out_part(self.data.label.cpu()[numbers], seed=self.recipe.seed)
        readers = self.fit(numbers[~part], list(product(probes, rates)), descent)
        unseen = self.still(self.data, numbers[part])
        accuracies = [reader.accuracy(unseen) for reader in readers]
        tried = [dict(zip(rates, accuracies[n * len(rates) :], strict=False)) for n in range(len(probes))]
        return [max(one.items(), key=lambda pair: pair[1]) for one in tried]

    def epochs(self, numbers: Tensor, size: int) -> Epochs:
        """Epochs over some of the samples, augmented each time as in training."""
        generator = torch.Generator(self.data.device).manual_seed(self.recipe.seed)

        def epoch(number: int) -> Iterator[tuple[Said, Tensor]]:
            order = epoch_order(len(numbers), size, self.recipe.seed, number)
            for sample in self.data.epoch(numbers[rows] for rows in order):
                batch = cut(sample, self.recipe.views, self.recipe.augment, generator)
                assert batch.label is not None
                yield self.say(batch.views), batch.label.long()

        return epoch

    @torch.no_grad()
    def say(self, views: Mapping[str, Tensor]) -> Said:
        """What the encoders say of a batch."""
        numbers, said = share(NUMBERS, self.encoders), {}
        with as_trained(self.recipe, self.data.device):
            for name, encoder in self.encoders.items():
                found = all_features(encoder, views[name], self.layers, numbers=numbers)
                said[name] = {layer: values.float() for layer, values in found.items()}
        return said

    def still(self, data: Dataset, numbers: Tensor) -> dict[str, Features]:
        """What they say of some samples with nothing random about them, by layer."""
        with as_trained(self.recipe, data.device):
            return extract_layers(self.encoders, batches(data, self.recipe, only=numbers), self.layers)


def probe_augmented(
    encoders: nn.ModuleDict, recipe: Recipe, splits: Mapping[str, Dataset], asked: Asked
) -> Iterator[Probed]:
    """Probes as `probe_layers` gives them, but fitted to augmented samples; a kind at a time, all from one pass."""
    check(recipe, splits, asked)
    train, test = (splits[split].to(fastest_device()) for split in ("train", "test"))
    frozen = Frozen(encoders.to(train.device), recipe, asked.layers, train)
    numbers, classes = labelled(train), count_classes(train)
    found = frozen.still(test, labelled(test))
    for kind in asked.kinds:
        begun, descent = time.perf_counter(), asked.protocol.descent(kind)
        assert descent is not None
        probes = [one for one in asked.probes(encoders) if one.kind == kind]
        chosen = frozen.choose(numbers, probes, descent)
        readers = frozen.fit(
            numbers, [(one, rate) for one, (rate, _) in zip(probes, chosen, strict=True)], descent
        )
        told = [reader.hits(found) for reader in readers]
        seconds = (time.perf_counter() - begun) / len(probes)
        for probe, (rate, held_out), (accuracy, top5) in zip(probes, chosen, told, strict=True):
            tested = len(found[probe.layer].index)
            score = Score(accuracy, len(numbers), tested, held_out=held_out, learning_rate=rate, top5=top5)
            yield Probed(probe, asked.protocol.name, True, classes, width(found, probe), seconds, score)


def check(recipe: Recipe, splits: Mapping[str, Dataset], asked: Asked) -> None:
    """Refuse what cannot be fitted to augmented samples."""
    if recipe.augment is None:
        raise ValueError("the recipe does not augment its samples: leave out --augmented")
    lacking = [
        view for data in splits.values() for view, have in data.present.items() if not bool(have.all())
    ]
    if lacking:
        raise ValueError(f"view '{lacking[0]}' is missing for some samples: leave out --augmented")
    for kind in asked.kinds:
        if asked.protocol.descent(kind) is None or asked.protocol.standardise:
            able = ", ".join(name for name, one in PROTOCOLS.items() if one.linear is not None)
            raise ValueError(
                f"a {kind} probe by protocol '{asked.protocol.name}' needs features that are kept: for --augmented "
                f"the kinds are linear and mlp, and the protocols {able}"
            )


def width(found: Mapping[str, Features], probe: Probe) -> int:
    """How many numbers of a sample a probe looks at."""
    return sum(found[probe.layer].values[view].shape[1] for view in probe.views)
