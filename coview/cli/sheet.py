"""Contact sheets of what a recipe's encoders get to see."""

from pathlib import Path

import torch
from matplotlib.figure import Figure

from coview.data import Resident
from coview.files import write_whole
from coview.reports.pictures import contact_sheet
from coview.training import Recipe
from coview.types import Batch
from coview.views import cut


def write_sheet(recipe: Recipe, out: Path, *, samples: int, split: str, augmented: bool) -> None:
    """Draw the first samples of a split into a PNG."""
    figure = draw_sheet(recipe, recipe.data(split), samples=samples, augmented=augmented)
    write_whole(out, lambda file: figure.savefig(file, format="png", dpi=144))


def draw_sheet(recipe: Recipe, data: Resident, *, samples: int, augmented: bool = False) -> Figure:
    """One row a view, one column a sample."""
    batch = first_batch(recipe, data, samples, augmented=augmented)
    labels = None if batch.label is None else label_names(data, batch)
    return contact_sheet(batch.views, labels=labels, present=batch.present)


def first_batch(recipe: Recipe, data: Resident, samples: int, *, augmented: bool = False) -> Batch:
    generator = torch.Generator(data.device).manual_seed(recipe.seed)
    sample = data.fetch(torch.arange(min(samples, len(data))))
    return cut(sample, recipe.views, recipe.augment if augmented else None, generator)


def label_names(data: Resident, batch: Batch) -> list[str]:
    """The class of each sample in words, or its number where the classes have no names."""
    numbers = [] if batch.label is None else batch.label.tolist()
    return [data.classes[number] if data.classes else str(number) for number in numbers]
