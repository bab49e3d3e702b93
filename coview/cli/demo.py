"""`coview demo`: rendered rooms to a report, in three minutes on two CPU cores."""

import shlex
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.text import Text
from torch import nn

from coview.cli.live import LiveTraining
from coview.cli.probe import retrieval_table
from coview.cli.sheet import draw_sheet, show_sheet
from coview.data import Dataset
from coview.probes import Features, nearest
from coview.recipes.find import find_recipe
from coview.recipes.measure import (
    ALL,
    batches,
    features,
    look_in,
    open_run,
    probe_views,
    retrieval,
    supervised,
)
from coview.reports.curves import pair_curves
from coview.reports.diagram import information_diagram
from coview.reports.page import Command, Picture, Section, page, write_page
from coview.reports.pictures import neighbour_grid, to_images
from coview.reports.runs import read_run
from coview.reports.tables import Table
from coview.training import Recipe, RunFolder, fit
from coview.training.state import build_encoders

SUPERVISED_EPOCHS = 10
KINDS = ("random", "contrastive", "supervised")


@dataclass(frozen=True)
class Outcome:
    """What the demo found."""

    splits: Mapping[str, Dataset]
    linear: dict[str, dict[str, float]]  # view -> kind of encoder -> accuracy
    recall: dict[str, dict[str, float]]  # directed pair -> R@1 and chance
    embeddings: Features


def run_demo(folder: Path, seed: int, settings: list[str], console: Console, *, resume: bool = False) -> None:
    """Render, train, measure, report."""
    started = time.perf_counter()
    settings = [f"seed={seed}", *settings]
    recipe, origin = find_recipe("demo", settings)
    console.print(Text("Rendering rooms ..."))
    if not resume:
        RunFolder(folder).check_free()
    show_sheet(recipe, recipe.data("train"), console)
    with LiveTraining(console, "Contrasting four views") as live:
        fit(recipe, folder, resume=resume, origin=origin, observe=live.observe, look_in=look_in(recipe))
    outcome = measure(recipe, open_run(folder).encoders, console)
    seconds = time.perf_counter() - started
    recalls = retrieval_table(outcome.recall, f"{len(outcome.splits['test']):,} rooms to choose from")
    tables = {"linear probe": linear_table(outcome), "retrieval": recalls}
    result = summary(outcome, tables, seconds, f"coview probe {shlex.quote(str(folder))} --kind knn")
    RunFolder(folder).write_json("result.json", result)
    write_page(folder / "report.html", report(recipe, folder, outcome, [*tables.values()], result))
    for table in tables.values():
        console.print(table.rich())
    console.print(Text(f"\nThe whole story, with pictures:  {folder / 'report.html'}"), soft_wrap=True)
    console.print(Text(f"Every sample, to click on:       {clickable(folder)}"), soft_wrap=True)
    console.print(Text(f"Go on from here:                 {result['command']}"), soft_wrap=True)
    console.print(Text(f"{seconds:.0f} seconds.", style="dim"))


def next_free(folder: Path) -> Path:
    """The folder, or where it exists `folder-2`, `folder-3` and so on: a second demo must not fail."""
    others = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    return next(one for one in chain([folder], others) if not one.exists())


def measure(recipe: Recipe, contrastive: nn.ModuleDict, console: Console) -> Outcome:
    """Probe the encoders beside random ones, which they started as, and beside supervised ones."""
    splits = {split: recipe.data(split) for split in ("train", "test")}
    with _waiting(console, "Training supervised encoders to compare with"):
        labelled = supervised(recipe, splits["train"], SUPERVISED_EPOCHS)
    torch.manual_seed(recipe.seed)
    encoders = {"random": build_encoders(recipe), "contrastive": contrastive, "supervised": labelled}
    classes = len(splits["train"].classes)
    scores = {}
    with _waiting(console, "Probing"):
        for kind in KINDS:
            found = features(encoders[kind], recipe, splits, recipe.probe_layer)
            scores[kind] = probe_views(found, classes, seed=recipe.seed)
        embeddings = features(contrastive, recipe, {"test": splits["test"]}, "embedding")["test"]
    linear = {view: {kind: scores[kind][view] for kind in KINDS} for view in scores["random"]}
    return Outcome(splits, linear, retrieval(embeddings), embeddings)


def margin(linear: Mapping[str, Mapping[str, float]]) -> float:
    """Points by which contrastive encoders beat random ones, on the average view."""
    gains = [one["contrastive"] - one["random"] for view, one in linear.items() if view != ALL]
    return sum(gains) / len(gains)


def linear_table(outcome: Outcome) -> Table:
    """Linear-probe accuracy by view."""
    rows = tuple((view, *(one[kind] for kind in KINDS)) for view, one in outcome.linear.items())
    classes = len(outcome.splits["train"].classes)
    ahead = f"contrastive is {margin(outcome.linear):.1f} points above random on the average view"
    note = f"{classes} kinds of room, chance {100 / classes:.1f}; {ahead}"
    return Table("Linear probe on frozen encoders, % right", ("view", *KINDS), rows, note)


def summary(outcome: Outcome, tables: Mapping[str, Table], seconds: float, command: str) -> dict[str, Any]:
    """Every number of the tables, and how to go on."""
    return {
        "command": command,
        "margin": margin(outcome.linear),
        "seconds": seconds,
        "tables": {name: table.record() for name, table in tables.items()},
    }


def report(
    recipe: Recipe, folder: Path, outcome: Outcome, tables: list[Table], result: dict[str, Any]
) -> str:
    """The page that tells the run from data to result."""
    graph = recipe.graph.of_views()
    diagram = information_diagram(graph.views, graph.edges, graph.regions())
    count = len(outcome.splits["train"])
    return page(
        "coview demo: four views of a room",
        [
            Section(
                "Views",
                f"Each of {count:,} rendered rooms is seen in {len(recipe.views)} ways. No label is used to train.",
            ),
            Picture(
                draw_sheet(recipe, outcome.splits["test"], samples=10), "One column a room, one row a view."
            ),
            Section(
                "Objective",
                "Every pair of views is contrasted, in both directions, against all rooms in memory.",
            ),
            Picture(
                diagram,
                "What the views share, and how many of the objectives contain it (figure 3 of the paper).",
            ),
            Section("Training", "Loss of every directed pair, and the mutual information that it proves."),
            Picture(
                pair_curves(read_run(folder).history),
                "Dotted: log of the negatives, the most that can be proved.",
            ),
            Section(
                "Result",
                "A linear classifier reads the kind of room from frozen features of rooms never trained on.",
            ),
            *tables,
            Section("Neighbours", "A room in one view looks for itself in another, among all test rooms."),
            Picture(draw_neighbours(recipe, outcome), "The room itself is framed."),
            Section("Go on", "A page with every sample to click on, and a probe of another kind:"),
            Command(clickable(folder)),
            Command(result["command"]),
        ],
    )


def clickable(folder: Path) -> str:
    """The command that makes a page on which samples can be looked up."""
    return f"coview report {shlex.quote(str(folder))}"


def draw_neighbours(recipe: Recipe, outcome: Outcome, count: int = 6) -> Any:
    """For a few test rooms and pairs of views, the nearest rooms in the other view."""
    pairs = list(recipe.graph.of_views().directed())
    chosen = [pairs[(3 * number) % len(pairs)] for number in range(min(8, len(pairs)))]
    views = next(iter(batches(outcome.splits["test"], recipe, len(outcome.splits["test"])))).views
    values = outcome.embeddings.values
    queries, found = [], []
    for row, pair in enumerate(chosen):
        at = row * 7 % len(values[pair.anchor])
        near = nearest(values[pair.anchor][at : at + 1], values[pair.target], count)[0].cpu()
        image = to_images(views[pair.anchor][at : at + 1], grey=pair.anchor == "L")[0]
        images = to_images(views[pair.target][near], grey=pair.target == "L")
        queries.append((pair.name, image))
        found.append([(one, int(where) == at) for one, where in zip(images, near, strict=True)])
    return neighbour_grid(queries, found)


def _waiting(console: Console, what: str) -> AbstractContextManager[Any]:
    """A spinner in a terminal, a line elsewhere."""
    if not console.is_terminal:
        console.print(Text(f"{what} ..."))
    return console.status(what)
