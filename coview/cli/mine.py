"""Your own views on the command line: what was found, the recipe that it makes, and what training brought."""

import shlex
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from coview.cli.sheet import draw_sheet, show_sheet
from coview.data.own import Summary
from coview.data.own.load import load
from coview.files import write_text, write_whole
from coview.recipes.mine import Plan, plan, recipe_of, recipe_text
from coview.training.run import RECIPE

SHOWN = 8  # samples on a contact sheet


def look(path: Path, out: Path | None, console: Console) -> Plan:
    """Say what was found at a place, and draw a contact sheet of it."""
    found = plan(path)
    tell(found, console)
    draw(found, out, console)
    return found


def init(path: Path, out: Path, console: Console) -> None:
    """Write the recipe for the views at a place as a Python file."""
    if out.exists():
        raise FileExistsError(f"{out} exists already: name another file with --out, or move it away")
    found = plan(path)
    tell(found, console)
    write_text(out, recipe_text(found))
    name = shlex.quote(f"{out}:mine")
    console.print(Text(f"Written: {out}. Edit it, then:  coview train {name}"), soft_wrap=True)


def own_recipe(data: Path | None, folder: Path, console: Console) -> str:
    """The recipe in a run folder, made there from the data if it is not there yet; gives its name."""
    file = folder / RECIPE
    if not file.exists():
        if data is None:
            raise ValueError(
                "`coview train mine` wants to know where your views are: --data DIR, or a table or arrays"
            )
        if folder.exists() and any(folder.iterdir()):
            raise FileExistsError(f"{folder} holds another run: name a new folder with --run")
        found = look(data, None, console)
        write_text(file, recipe_text(found))
    return f"{file}:mine"


def tell(found: Plan, console: Console) -> None:
    """One row a view, then what else there is to know."""
    grid = Grid(title=Text(f"{len(found.found):,} samples in {found.found.place}"))
    rows = [_row(view) for view in found.views.values()]
    told = [any(cells) for cells in zip(*rows, strict=True)]  # of gaps, say, there may be none
    for number, name in enumerate(("view", "there", "missing", "form", "size", "values", "holes")):
        if told[number]:
            grid.add_column(name, justify="right" if number else "left")
    for row in rows:
        grid.add_row(*(Text(cell) for cell, shown in zip(row, told, strict=True) if shown))
    console.print(grid)
    for line in _lines(found):
        console.print(Text(line), soft_wrap=True)


def draw(found: Plan, out: Path | None, console: Console) -> None:
    """A contact sheet of samples spread over the training part: into a file, and in a terminal that can show it."""
    recipe = recipe_of(found)
    rows = found.found.part("train")
    if found.found.label is not None and (known := found.found.label[rows] >= 0).any():
        rows = rows[known]  # those say most
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, SHOWN).astype(int))]
    channels = {name: found.views[name].channels for name in found.maps}
    data = load(found.found, rows, "samples", side=found.side, channels=channels)
    if out is not None:
        figure = draw_sheet(recipe, data, samples=SHOWN)
        write_whole(out, lambda file: figure.savefig(file, format="png", dpi=144))
        console.print(Text(f"Written: {out}"), soft_wrap=True)
    if found.maps:
        show_sheet(recipe, data, console)


def _row(view: Summary) -> tuple[str, ...]:
    if view.kind == "table":
        form, size = f"{view.channels:,} numbers", ""
    else:
        form = f"{view.channels} channel{'s' if view.channels > 1 else ''}{', 8 bits' if view.bytes else ''}"
        size = _sizes(view)
    low, high = view.extent
    holes = f"{100 * view.holes:.1f} %" if view.holes else ""
    gaps = view.samples - view.present
    return (
        view.name,
        f"{view.present:,}",
        f"{gaps:,}" if gaps else "",
        form,
        size,
        f"{low:.4g} to {high:.4g}",
        holes,
    )


def _sizes(view: Summary) -> str:
    (height, width), *others = view.sizes
    return f"{height}x{width}" + (
        f" and {len(others)} other{'s' if len(others) > 1 else ''}" if others else ""
    )


def _lines(found: Plan) -> list[str]:
    """What the table does not say."""
    lines = [*found.found.notes]
    for view in found.views.values():
        if len(view.sizes) > 1:
            sizes = f"{len(view.sizes)} sizes: all become {found.side}x{found.side}"
            lines.append(f"view '{view.name}' has maps of {sizes}")
        if view.broken:
            files = "1 file" if len(view.broken) == 1 else f"{len(view.broken):,} files"
            lines.append(f"view '{view.name}': {files} cannot be read, first {view.broken[0]}")
    whole = len(found.views) * (len(found.views) - 1) // 2
    if len(found.pairs) < whole:
        lines.append(
            f"{whole - len(found.pairs)} of {whole} pairs of views share no samples and are not contrasted"
        )
    labels = f", labels of {len(found.found.classes)} classes" if found.found.classes else ", no labels"
    lines.append(
        f"{found.train:,} samples to train on, {found.test:,} to test on{labels}; "
        f"{found.epochs} epochs in batches of {found.batch_size}"
    )
    return lines
