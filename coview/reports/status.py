"""Where runs stand: state, progress and the best probe of every run folder below a place."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from coview.reports.runs import Run, read_run
from coview.reports.tables import Cell, Table

LOCK, RECENT = ".lock", 90.0  # a run that goes on touches this file; seconds after which it has not
DEPTH = 4  # folders that are looked into below each other
COLUMNS = ("run", "state", "progress", "left", "loss", "bound", "best probe", "heard")


def status(place: Path) -> Table:
    """One row a run, the one that was heard of last first."""
    if not place.is_dir():
        raise FileNotFoundError(f"no folder {place}")
    found = sorted(_run_folders(place, DEPTH), key=_heard, reverse=True)
    rows = tuple(_row(folder, place) for folder in found)
    note = "" if rows else f"there are no runs in {place}: coview train writes them to runs/"
    return Table("", COLUMNS, rows, note)


def _run_folders(place: Path, depth: int) -> Iterator[Path]:
    if (place / "recipe.json").is_file():
        yield place
    elif depth:
        for inside in sorted(one for one in place.iterdir() if one.is_dir() and not one.name.startswith(".")):
            yield from _run_folders(inside, depth - 1)


def _row(folder: Path, place: Path) -> tuple[Cell, ...]:
    name = folder.name if folder == place else str(folder.relative_to(place))
    try:
        run = read_run(folder)
    except ValueError as error:
        return (name, f"cannot be read: {error}", *(None,) * (len(COLUMNS) - 2))
    share = progress(run)
    state = _state(share, folder / LOCK)
    left = _left(run, share) if state == "running" else None
    loss = next((row["loss"] for row in reversed(run.history) if "loss" in row), None)
    bounds = next((row["bounds"] for row in reversed(run.history) if row.get("bounds")), None)
    bound = None if bounds is None else f"{sum(bounds.values()) / len(bounds):.2f}"
    shown = None if loss is None else f"{loss:.2f}"
    return (name, state, f"{100 * share:.0f} %", left, shown, bound, best_probe(run), _ago(_age(folder)))


def progress(run: Run) -> float:
    """How much of its epochs or steps a run has done, from 0 to 1."""
    fields = run.recipe.get("fields", {})
    last = run.history[-1] if run.history else {}
    shares = [last.get("epoch", 0.0) / fields["epochs"]] if fields.get("epochs") else []
    if fields.get("steps"):
        shares.append(last.get("step", 0) / fields["steps"])
    return min(max(shares, default=0.0), 1.0)


def best_probe(run: Run) -> str | None:
    """The highest number that any probe of the run gave, and whose it was."""
    found: dict[str, float] = {}
    for row in run.history:
        for name, value in row.get("probes", {}).items():
            found[name] = max(value, found.get(name, value))
    for record in run.probes:
        if record.get("encoders", "contrastive") == "contrastive":
            found[f"{record.get('kind')} {record.get('view')}"] = record["accuracy"]
    found |= _of_tables((run.result or {}).get("tables", {}))
    if not found:
        return None
    name = max(found, key=found.__getitem__)
    return f"{found[name]:.1f} ({name})"


def _of_tables(tables: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a table of probes, of the encoders that were trained by contrast."""
    found: dict[str, float] = {}
    for name, table in tables.items():
        column = next((n for n, one in enumerate(table["columns"]) if one == "contrastive"), None)
        if "probe" in name and column is not None:
            found |= {str(row[0]): row[column] for row in table["rows"] if row[column] is not None}
    return found


def _state(share: float, lock: Path) -> str:
    if lock.is_file() and time.time() - lock.stat().st_mtime < RECENT:
        return "running"
    return "done" if share >= 1 else "stopped"


def _left(run: Run, share: float) -> str | None:
    """How long a run that goes on will take, by the speed it last had."""
    row = next((row for row in reversed(run.history) if "rate" in row), None)
    batch = run.recipe.get("fields", {}).get("batch_size")
    if row is None or not share or not batch or not row["rate"]:
        return None
    return _duration(row["step"] * (1 / share - 1) * batch / row["rate"])


def _heard(folder: Path) -> float:
    """When a run last wrote something."""
    files = [folder / name for name in ("recipe.json", "metrics.jsonl", "result.json", LOCK)]
    return max(file.stat().st_mtime for file in files if file.is_file())


def _age(folder: Path) -> float:
    return max(time.time() - _heard(folder), 0.0)


def _ago(seconds: float) -> str:
    return f"{_duration(seconds)} ago"


def _duration(seconds: float) -> str:
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
