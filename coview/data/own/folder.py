"""A folder of views: `rgb/0001.jpg depth/0001.png thermal/0001.tif`, one sample a name, gaps allowed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from coview.data.own.found import (
    Column,
    Found,
    check_views,
    known_split,
    normal_name,
    numbered_labels,
    renamed,
    view_names,
)
from coview.data.own.manifest import read_rows, sample_column
from coview.data.own.readers import SUPPORTED

PARTS = ("train", "test", "val", "valid")
LABELS = ("labels.csv", "label.csv")
IGNORED = ("__MACOSX", "__pycache__")

Files = Mapping[str, Path]
"""The files of one view by the name of their sample."""


def find_folder(place: Path, *, alone: bool = False) -> Found:
    """The views of a folder, those of its parts where it has `train` and `test`, and the labels beside them."""
    notes: list[str] = []
    parts = [folder for folder in _folders(place) if folder.name.lower() in PARTS]
    parts = parts if len(parts) == len(_folders(place)) else []
    views = _of_parts(parts, notes) if parts else _views(place, notes)
    samples = tuple(sorted({name for files in views.values() for name in files}))
    safe = view_names(list(views))
    columns = {
        safe[name]: Column(safe[name], files=tuple(map(files.get, samples))) for name, files in views.items()
    }
    check_views(columns, place, samples, alone=alone)
    notes += renamed(safe)
    split = known_split([name.split("/")[0] for name in samples], str(place)) if parts else None
    known = _labels(place, samples, notes)
    if "split" in known:
        split = known_split(known["split"], str(known["file"]))
    label, classes = None, ()
    if "label" in known:
        label, classes, more = numbered_labels(known["label"], known["file"].name)
        notes += more
    return Found(place, samples, columns, label, classes, split, tuple(notes))


def _folders(place: Path) -> list[Path]:
    inside = (one for one in sorted(place.iterdir()) if one.is_dir())
    return [one for one in inside if not one.name.startswith(".") and one.name not in IGNORED]


def _views(place: Path, notes: list[str]) -> dict[str, Files]:
    """Every folder with files that can be read is a view."""
    views: dict[str, Files] = {}
    strange: list[str] = []
    for folder in _folders(place):
        files, others = _listed(folder)
        if not files and not others:
            raise ValueError(f"view '{folder.name}' of {place} is empty: fill its folder, or take it away")
        if files:
            views[folder.name] = _by_sample(folder, files)
        if others:
            strange.append(f"{folder.name}/ ({_kinds(others)})")
    if not views:
        found = f"found {', '.join(strange)}" if strange else _bare(place)
        raise ValueError(
            f"{place} has no views: wanted a folder for each view, {found}; files of these types can be read: "
            f"{' '.join(SUPPORTED)}"
        )
    if strange:
        notes.append(
            f"left aside, not of a type that can be read ({' '.join(SUPPORTED)}): {', '.join(strange)}"
        )
    return views


def _bare(place: Path) -> str:
    """What a folder has that holds no folders with files."""
    loose = [one for one in place.iterdir() if one.suffix.lower() in SUPPORTED]
    if not loose:
        return "it has no folders with files"
    return "1 file there lies in none" if len(loose) == 1 else f"{len(loose):,} files there lie in none"


def _of_parts(parts: list[Path], notes: list[str]) -> dict[str, Files]:
    """Views that lie in `train`, `test` and so on; a sample's name begins with its part's."""
    views: dict[str, dict[str, Path]] = {}
    for part in parts:
        for name, files in _views(part, notes).items():
            views.setdefault(name, {}).update(
                {f"{part.name.lower()}/{sample}": file for sample, file in files.items()}
            )
    return dict(views)


def _listed(folder: Path) -> tuple[list[Path], list[Path]]:
    """Files below a folder that can be read, and others."""
    inside = sorted(one for one in _walk(folder) if not one.name.startswith(".") and one.name != "Thumbs.db")
    good = [one for one in inside if one.suffix.lower() in SUPPORTED]
    return good, [one for one in inside if one.suffix.lower() not in SUPPORTED]


def _walk(folder: Path) -> Iterator[Path]:
    return (one for one in folder.rglob("*") if one.is_file())


def _by_sample(folder: Path, files: list[Path]) -> Files:
    """Files by the name of their sample: their path below the view's folder, without its ending."""
    named: dict[str, Path] = {}
    for file in files:
        name = normal_name(file.relative_to(folder).with_suffix("").as_posix())
        if name in named:
            raise ValueError(
                f"view '{folder.name}' has two files for sample '{name}' "
                f"({named[name].name} and {file.name}): keep one"
            )
        named[name] = file
    return named


def _labels(place: Path, samples: tuple[str, ...], notes: list[str]) -> dict:
    """What `labels.csv` says of each sample: its label, and its split where there is such a column."""
    file = next((place / name for name in LABELS if (place / name).is_file()), None)
    if file is None:
        return {}
    rows = read_rows(file)
    key = sample_column(rows, file) or next(iter(rows))
    wanted = {name.lower(): name for name in rows if name != key}
    if "label" not in wanted and len(wanted) == 1 and "split" not in wanted:
        wanted = {"label": next(iter(wanted.values()))}
    if not {"label", "split"} & set(wanted):
        raise ValueError(
            f"{file} has the columns {', '.join(rows)}: wanted is a sample's name, and label or split"
        )
    named = [_sample_name(str(name)) for name in rows[key]]
    place_of = {name: row for row, name in enumerate(named)}
    if len(place_of) < len(named):
        double = Counter(named).most_common(1)[0][0]
        raise ValueError(f"{file} names sample '{double}' more than once: keep one row for it")
    strangers = [name for name in place_of if name not in set(samples)]
    if strangers:
        notes.append(
            f"{len(strangers):,} rows of {file.name} name no sample of any view, first '{strangers[0]}'"
        )
    found: dict = {"file": file}
    for kind in ("label", "split"):
        if kind in wanted:
            values = rows[wanted[kind]]
            found[kind] = [values[place_of[name]] if name in place_of else None for name in samples]
    return found


def _sample_name(text: str) -> str:
    """A sample's name as it stands in a table, there perhaps with the ending of a file."""
    name = normal_name(text.strip())
    return name if not name.lower().endswith(SUPPORTED) else name.rpartition(".")[0]


def _kinds(files: list[Path]) -> str:
    """How many files of which type."""
    counts = Counter(file.suffix.lower() or "no type" for file in files)
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common(4))
