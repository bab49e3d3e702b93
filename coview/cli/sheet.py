"""Contact sheets of what a recipe's encoders get to see."""

from collections.abc import Sequence
from pathlib import Path

import torch
from matplotlib.figure import Figure
from rich.console import Console
from rich.text import Text

from coview.data import Dataset
from coview.files import write_whole
from coview.reports.pictures import contact_sheet, to_images
from coview.training import Recipe
from coview.types import Batch
from coview.views import cut, depth, stand_still

SIDE = 16  # pixels of a picture in the terminal


def write_sheet(recipe: Recipe, out: Path, *, samples: int, split: str, augmented: bool) -> None:
    """Draw the first samples of a split into a PNG."""
    figure = draw_sheet(recipe, recipe.data(split), samples=samples, augmented=augmented)
    write_whole(out, lambda file: figure.savefig(file, format="png", dpi=144))


def draw_sheet(recipe: Recipe, data: Dataset, *, samples: int, augmented: bool = False) -> Figure:
    """One row a view, one column a sample."""
    batch = first_batch(recipe, data, samples, augmented=augmented)
    labels = None if batch.label is None else label_names(data, batch)
    holes = {name: -1.0 for name, view in recipe.views.items() if getattr(view, "func", view) is depth}
    return contact_sheet(batch.views, labels=labels, present=batch.present, holes=holes)


def show_sheet(recipe: Recipe, data: Dataset, console: Console) -> None:
    """A small contact sheet in the terminal itself, two pixels a letter; nothing where there is none."""
    if not console.is_terminal or console.color_system is None:
        return
    batch = first_batch(recipe, data, max((console.width - 10) // (SIDE + 1), 1))
    for name, view in batch.views.items():
        images = [
            image[:: len(image) // SIDE or 1, :: image.shape[1] // SIDE or 1]
            for image in to_images(view, grey=name == "L")
        ]
        for row in range(0, SIDE, 2):
            line = Text(f"{name if row == SIDE // 2 else '':<9}", style="bold")
            for image in images:
                for upper, lower in zip(image[row], image[row + 1], strict=True):
                    line.append("\u2580", style=f"{_colour(upper)} on {_colour(lower)}")
                line.append(" ")
            console.print(line, no_wrap=True, overflow="crop")


def _colour(pixel: Sequence[int]) -> str:
    return "#" + "".join(f"{int(channel):02x}" for channel in pixel)


def first_batch(recipe: Recipe, data: Dataset, samples: int, *, augmented: bool = False) -> Batch:
    generator = torch.Generator(data.device).manual_seed(recipe.seed)
    sample = data.fetch(torch.arange(min(samples, len(data))))
    sample = sample if augmented else stand_still(sample, recipe.still)
    return cut(sample, recipe.views, recipe.augment if augmented else None, generator)


def label_names(data: Dataset, batch: Batch) -> list[str]:
    """The class of each sample in words, or its number where the classes have no names; a dash for no label (-1)."""
    numbers = [] if batch.label is None else batch.label.tolist()
    names = [data.classes[number] if data.classes else str(number) for number in numbers]
    return ["–" if number < 0 else name for number, name in zip(numbers, names, strict=True)]
