"""`coview probe`: a run's encoders, frozen, and what can be read from them."""

from collections.abc import Sequence
from pathlib import Path

from torch import nn

from coview.names import did_you_mean
from coview.recipes.measure import ALL, KINDS, features, open_run, probe, probe_views, retrieval
from coview.reports.tables import Table
from coview.training import Recipe


def probe_run(run: Path, kind: str, views: Sequence[str], layer: str | None) -> Table:
    """One table for one kind of probe; retrieval compares embeddings, the others read labels."""
    if kind not in (*KINDS, "retrieval"):
        raise ValueError(f"--kind must be one of {', '.join(KINDS)} or retrieval, got '{kind}'")
    opened = open_run(run)
    encoders = _chosen(opened.encoders, views)
    layer = layer or ("embedding" if kind == "retrieval" else opened.recipe.probe_layer)
    note = f"{run}, step {opened.step}, layer {layer}"
    if kind == "retrieval":
        return retrieval_table(_retrieval(opened.recipe, encoders, layer), note)
    splits = {split: opened.recipe.data(split) for split in ("train", "test")}
    classes = len(splits["train"].classes) or int(_labels(splits["train"]).max()) + 1
    found = features(encoders, opened.recipe, splits, layer)
    if views:
        scores = {
            " + ".join(views): probe(found, list(views), classes, kind=kind, seed=opened.recipe.seed).accuracy
        }
    else:
        scores = probe_views(found, classes, kind=kind, seed=opened.recipe.seed)
    rows = tuple((view, accuracy, 100 / classes) for view, accuracy in scores.items())
    return Table(f"{kind} probe, % right", ("view", "accuracy", "chance"), rows, note)


def retrieval_table(found: dict[str, dict[str, float]], note: str = "") -> Table:
    """R@1 by directed pair."""
    rows = tuple((pair, one["recall"], one["chance"]) for pair, one in found.items())
    return Table("Cross-view retrieval, R@1 in %", ("pair", "R@1", "chance"), rows, note)


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


def _labels(data):
    if data.label is None:
        raise ValueError(f"dataset '{data.name}' has no labels: --kind retrieval needs none")
    return data.label
