"""Probes of a recipe's encoders: every layer, view and kind that is asked for, one record each."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from torch import nn

from coview.data import Dataset
from coview.probes import OURS, Protocol, Score, concatenate, probe_by
from coview.recipes.measure import ALL, count_classes, features_by_layer
from coview.training import Recipe, RunFolder

FILE = "probes.json"
KEY = ("encoders", "kind", "layer", "views", "protocol", "augmented")  # a later probe of the same replaces it


@dataclass(frozen=True)
class Probe:
    """What one probe looks at, and by which kind of classifier; `view` names the views together."""

    kind: str
    layer: str
    view: str
    views: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """What is to be probed, and how."""

    layers: tuple[str, ...]
    kinds: tuple[str, ...] = ("linear",)
    views: tuple[str, ...] = ()  # side by side; none: each on its own, and all of them side by side
    protocol: Protocol = OURS

    def probes(self, encoders: Iterable[str]) -> list[Probe]:
        """Each kind of probe on each of the views at each of the layers."""
        named = groups(encoders, self.views)
        return [
            Probe(kind, layer, name, views)
            for layer in self.layers
            for name, views in named.items()
            for kind in self.kinds
        ]


@dataclass(frozen=True)
class Probed:
    """A probe, how it was fitted, and how well it does."""

    probe: Probe
    protocol: str
    augmented: bool  # whether the classifier was fitted to augmented samples
    classes: int
    features: int  # numbers of a sample
    seconds: float
    score: Score

    def record(self, **more: Any) -> dict[str, Any]:
        """As plain values for JSON, with whatever else is known."""
        own = {name: value for name, value in vars(self).items() if name not in ("probe", "score")}
        looked = {**asdict(self.probe), "views": list(self.probe.views)}
        return {**more, **looked, **own, **asdict(self.score)}


def probe_layers(
    encoders: nn.ModuleDict, recipe: Recipe, splits: Mapping[str, Dataset], asked: Asked
) -> Iterator[Probed]:
    """Probe after probe, fitted on "train" and scored on "test", from one pass over the samples of both."""
    classes = count_classes(splits["train"])
    found = features_by_layer(encoders, recipe, splits, asked.layers)
    for one in asked.probes(encoders):
        train, test = (concatenate(found[one.layer][split], one.views) for split in ("train", "test"))
        started = time.perf_counter()
        score = probe_by(asked.protocol, one.kind, *train, *test, classes=classes, seed=recipe.seed)
        seconds = time.perf_counter() - started
        yield Probed(one, asked.protocol.name, False, classes, train[0].shape[1], seconds, score)


def groups(encoders: Iterable[str], views: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """Views that are probed together, by the name they are shown under."""
    if views:
        return {" + ".join(views): tuple(views)}
    names = tuple(encoders)
    return {name: (name,) for name in names} | ({ALL: names} if len(names) > 1 else {})


def keep(run: RunFolder, records: Sequence[Mapping[str, Any]]) -> None:
    """Write records into a run folder's `probes.json`, in the place of older ones of the same probes."""
    new = {_key(record) for record in records}
    old = [record for record in kept(run) if _key(record) not in new]
    run.write_json(FILE, {"probes": [*old, *records]})


def kept(run: RunFolder) -> list[dict[str, Any]]:
    """The records of a run folder."""
    if not (run.path / FILE).exists():
        return []
    found = run.read_json(FILE)
    if not isinstance(found, dict) or not isinstance(found.get("probes"), list):
        raise ValueError(f"{run.path / FILE} should hold a list of probes: move it away, and probe again")
    return found["probes"]


def _key(record: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(record.get(name)) for name in KEY)
