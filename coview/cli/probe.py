"""`coview probe`: a run's encoders, frozen, and what can be read from them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.status import Status
from torch import nn

from coview.data import Dataset
from coview.names import did_you_mean
from coview.probes import find_protocol
from coview.probes.protocol import KINDS
from coview.recipes.augmented import probe_augmented
from coview.recipes.measure import (
    ALL,
    Opened,
    count_classes,
    features,
    layers_of,
    open_run,
    retrieval,
    supervised,
)
from coview.recipes.probing import Asked, keep, probe_layers
from coview.reports.probed import probe_table
from coview.reports.tables import Table
from coview.training import Recipe, RunFolder
from coview.training.state import build_encoders

EVERY, RETRIEVAL = "all", "retrieval"
Splits = Mapping[str, Dataset]


@dataclass(frozen=True)
class Options:
    """What the command line asks for; what it does not say is the recipe's choice."""

    kinds: Sequence[str] = ("linear",)
    views: Sequence[str] = ()
    layers: Sequence[str] = ()
    protocol: str = "ours"
    augmented: bool = False  # fit to augmented samples, whose features are made anew each epoch
    bounds: bool = False  # random and supervised encoders too
    supervised_epochs: int | None = None  # None: as many as the run


def probe_run(run: Path, options: Options, console: Console) -> Table:
    """One table of all that is asked for; retrieval compares embeddings, the others read labels."""
    kinds, protocol = _kinds(options), find_protocol(options.protocol)
    opened = open_run(run)
    encoders, recipe = _chosen(opened.encoders, options.views), opened.recipe
    if kinds == (RETRIEVAL,):
        layer = next(iter(options.layers), "embedding")
        found = _retrieval(recipe, encoders, layer)
        return retrieval_table(found, f"{run}, step {opened.step}, layer {layer}")
    splits = {split: recipe.data(split) for split in ("train", "test")}
    count_classes(splits["train"])
    layers = _layers(options.layers, recipe, encoders, splits["train"])
    asked = Asked(layers, kinds, tuple(options.views), protocol)
    records = []
    with console.status("Probing ...") as status:
        for record in _records(opened, splits, asked, options, status):
            records.append(record)
            keep(RunFolder(run), [record])  # what is measured is kept, whatever comes after
    layer = f", layer {layers[0]}" if len(layers) == 1 else ""
    return probe_table(records, note=f"{run}, step {opened.step}{layer}, protocol {protocol.name}")


def retrieval_table(found: dict[str, dict[str, float]], note: str = "") -> Table:
    """R@1 by directed pair."""
    rows = tuple((pair, one["recall"], one["chance"]) for pair, one in found.items())
    return Table("Cross-view retrieval, R@1 in %", ("pair", "R@1", "chance"), rows, note)


def _records(
    opened: Opened, splits: Splits, asked: Asked, options: Options, status: Status
) -> Iterator[dict[str, Any]]:
    """Every probe of every kind of encoders, as it is done."""
    measure = probe_augmented if options.augmented else probe_layers
    for name, encoders in _encoders(opened, splits, asked, options, status):
        status.update(f"Features of the {name} encoders ...")
        for one in measure(_chosen(encoders, asked.views), opened.recipe, splits, asked):
            what = f"{one.probe.layer}, {one.probe.view}, {one.probe.kind}"
            status.update(f"Probing the {name} encoders: {what} {one.score.accuracy:.1f} % right ...")
            yield one.record(encoders=name, step=opened.step)


def _encoders(
    opened: Opened, splits: Splits, asked: Asked, options: Options, status: Status
) -> Iterator[tuple[str, nn.ModuleDict]]:
    """The run's, and where bounds are wanted those it started as and supervised ones."""
    recipe = opened.recipe
    if options.bounds:
        torch.manual_seed(recipe.seed)
        yield "random", build_encoders(recipe)
    yield "trained", opened.encoders
    if options.bounds:
        epochs = options.supervised_epochs or recipe.epochs

        def tell(done: int, steps: int, losses: Any) -> None:
            status.update(f"Training supervised encoders: step {done:,} of {steps:,} ...")

        yield "supervised", supervised(recipe, splits["train"], epochs, tell, layer=asked.layers[-1])


def _kinds(options: Options) -> tuple[str, ...]:
    """The kinds of probe, each once."""
    known = (*KINDS, EVERY, RETRIEVAL)
    for kind in options.kinds:
        if kind not in known:
            raise ValueError(
                f"--kind must be one of {', '.join(known[:-1])} or {known[-1]}, got '{kind}'"
                f"{did_you_mean(kind, known)}"
            )
    kinds = tuple(
        dict.fromkeys(one for kind in options.kinds for one in (KINDS if kind == EVERY else (kind,)))
    )
    alone = len(kinds) == 1 and len(options.layers) < 2 and EVERY not in options.layers
    if RETRIEVAL in kinds and (not alone or options.bounds or options.augmented):
        raise ValueError("--kind retrieval stands alone: at one --layer, without --bounds and --augmented")
    return kinds


def _layers(layers: Sequence[str], recipe: Recipe, encoders: nn.ModuleDict, data: Dataset) -> tuple[str, ...]:
    """The layers that are meant, each once."""
    if EVERY in layers:
        return layers_of(encoders, recipe, data)
    return tuple(dict.fromkeys(layers)) or (recipe.probe_layer,)


def _retrieval(recipe: Recipe, encoders: nn.ModuleDict, layer: str) -> dict[str, dict[str, float]]:
    return retrieval(features(encoders, recipe, {"test": recipe.data("test")}, layer)["test"])


def _chosen(encoders: nn.ModuleDict, views: Sequence[str]) -> nn.ModuleDict:
    for view in views:
        if view not in encoders:
            raise ValueError(
                f"the run has no view '{view}'{did_you_mean(view, encoders)}; "
                f"it has {', '.join(encoders)} or, without --view, {ALL}"
            )
    return nn.ModuleDict({view: encoders[view] for view in views}) if views else encoders
