"""`coview data`: what is there of an image set, where it was looked for, and how to get it."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from coview.data.images.describe import Contents, describe_images
from coview.data.images.place import data_root, find_place
from coview.data.images.sets import SETS
from coview.reports.tables import Table

FEW = 10  # classes that are named


def show_data(name: str | None, root: Path | None, console: Console, *, download: bool = False) -> None:
    """One set, or all that are known."""
    if name is None and download:
        raise ValueError(
            "name the set to download: " + ", ".join(key for key, one in SETS.items() if one.archive)
        )
    if name is None:
        console.print(_known(data_root(root)).rich())
        return
    contents = describe_images(name, data_root(root), download=download)
    console.print(Text(f"{contents.title}: {contents.place}", style="bold"), soft_wrap=True)
    console.print(_parts(contents).rich())
    for line in _notes(contents):
        console.print(Text(line), soft_wrap=True)


def _known(root: Path) -> Table:
    rows = []
    for name, one in SETS.items():
        place = find_place(root, name, one.folders, one.is_there)
        rows.append((name, one.title, str(place) if place else "not there"))
    rows.append(("scenes", "Rendered rooms", "rendered when asked for"))
    return Table(
        "Image sets",
        ("name", "set", "where"),
        tuple(rows),
        f"looked for in {root}; `coview data NAME` says how to get one, a folder of pictures goes by its path",
    )


def _parts(contents: Contents) -> Table:
    rows = tuple((part.split, part.samples, part.size, part.labels, part.kept) for part in contents.parts)
    return Table("", ("split", "pictures", "size", "labels", "in training"), rows)


def _notes(contents: Contents) -> list[str]:
    """What else there is to know."""
    some = ", ".join(contents.classes[:FEW]) + (", ..." if len(contents.classes) > FEW else "")
    notes = [
        f"{len(contents.classes)} class{'es' * (len(contents.classes) > 1)}: {some}"
        if contents.classes
        else "No classes."
    ]
    if contents.others:
        notes.append(
            f"Not byte for byte the official files (which says nothing of the pictures): {', '.join(contents.others)}"
        )
    elif contents.others is not None:
        notes.append("All files are the official ones, by their checksums.")
    return notes + ([f"To get it: {contents.get}"] if contents.get else [])
