"""What a run of your own views has learned: retrieval for every pair, and a probe where there are labels."""

from pathlib import Path

import torch
from rich.console import Console
from rich.text import Text
from torch import nn

from coview.cli.probe import retrieval_table
from coview.data import Dataset
from coview.probes import Features, retrieval
from coview.recipes.measure import features, open_run, probe_views
from coview.reports.tables import Table
from coview.training import Recipe, RunFolder
from coview.training.state import build_encoders

Splits = dict[str, Dataset]


def show_learned(folder: Path, console: Console) -> None:
    """Measure a trained run, write the numbers beside it and show them."""
    opened = open_run(folder)
    splits = {split: opened.recipe.data(split) for split in ("train", "test")}
    tables = {"retrieval": pairs_found(opened.recipe, opened.encoders, splits["test"])}
    why_not = hindrance(splits)
    if why_not is None:
        tables = {"linear probe": against_random(opened.recipe, opened.encoders, splits), **tables}
    RunFolder(folder).write_json(
        "result.json", {"tables": {name: one.record() for name, one in tables.items()}}
    )
    for table in tables.values():
        console.print(table.rich())
    if why_not is not None:
        console.print(Text(f"No probe: {why_not}.", style="dim"), soft_wrap=True)


def hindrance(splits: Splits) -> str | None:
    """Why there is nothing to probe."""
    labels = {split: data.label for split, data in splits.items()}
    train, test = labels["train"], labels["test"]
    if train is None or test is None:
        return "there are no labels"
    known = {split: set(label[label >= 0].tolist()) for split, label in (("train", train), ("test", test))}
    unseen = [
        splits["train"].classes[one]
        for one in sorted(set(range(len(splits["train"].classes))) - known["train"])
    ]
    if unseen:
        return f"no training sample is labelled {unseen[0]}"
    return None if known["test"] else "no sample to test on has a label"


def against_random(recipe: Recipe, encoders: nn.ModuleDict, splits: Splits) -> Table:
    """A linear classifier on frozen features, beside the same on the encoders as they started."""
    torch.manual_seed(recipe.seed)
    kinds = {"random": build_encoders(recipe), "contrastive": encoders}
    classes = len(splits["train"].classes)
    there = _there(encoders, splits)
    scores = {}
    for kind, ones in kinds.items():
        chosen = nn.ModuleDict({name: ones[name] for name in there})
        found = features(chosen, recipe, splits, recipe.probe_layer)
        scores[kind] = probe_views(found, classes, seed=recipe.seed)
    rows = tuple((view, *(scores[kind][view] for kind in kinds)) for view in scores["random"])
    test = splits["test"].label
    most = 0.0 if test is None else 100 * float(test[test >= 0].bincount().max()) / int((test >= 0).sum())
    note = f"{classes} classes; the most frequent one would be right in {most:.1f}"
    return Table("Linear probe on frozen encoders, % right", ("view", *kinds), rows, note, tuple(kinds))


def pairs_found(recipe: Recipe, encoders: nn.ModuleDict, test: Dataset) -> Table:
    """R@1 for the pairs that are contrasted and that two test samples or more have both of."""
    there = _there(encoders, {"test": test})
    chosen = nn.ModuleDict({name: encoders[name] for name in there})
    found = features(chosen, recipe, {"test": test}, "embedding")["test"]
    recalls = {pair.name: _recall(found, pair.anchor, pair.target) for pair in recipe.graph.directed()}
    known = {name: one for name, one in recalls.items() if one is not None}
    return retrieval_table(
        known, f"{len(test):,} samples to test on, of which a pair's are those that have both"
    )


def _recall(found: Features, anchor: str, target: str) -> dict[str, float] | None:
    if anchor not in found.values or target not in found.values:
        return None
    both = found.present[anchor] & found.present[target]
    if anchor == target or both.sum() < 2:
        return None
    recall = retrieval(found.values[anchor][both], found.values[target][both])
    return {"recall": recall.at[1], "chance": recall.chance[1]}


def _there(encoders: nn.ModuleDict, splits: Splits) -> list[str]:
    """The views that every split has samples of."""
    return [
        name
        for name in encoders
        if all(name not in d.present or bool(d.present[name].any()) for d in splits.values())
    ]
