"""Run folders read back, compared over seeds, and made into a page."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from coview.reports.outcome import Numbers
from coview.reports.page import Command, Folded, Part, Section, page
from coview.reports.probed import probe_table
from coview.reports.tables import Cell, Table
from coview.reports.widgets import Curves, Pairs

Number = int | float
FEW = 16  # fields that are shown at once; more are folded


@dataclass(frozen=True)
class Run:
    """What a run folder says."""

    folder: Path
    name: str
    recipe: dict[str, Any]
    history: list[dict[str, Any]]
    result: dict[str, Any] | None
    probes: tuple[dict[str, Any], ...] = ()


def read_run(folder: Path) -> Run:
    """The run in a folder: its recipe, the rows it logged so far, and its result if it came that far."""
    recipe = folder / "recipe.json"
    if not recipe.is_file():
        raise ValueError(f"{folder} is no run folder: looked for {recipe}, which is not there")
    metrics, result = folder / "metrics.jsonl", folder / "result.json"
    history = _read_history(metrics) if metrics.is_file() else []
    name, probes = folder.resolve().name, folder / "probes.json"
    found = _read_object(result) if result.is_file() else None
    records = tuple(_read_object(probes).get("probes", ())) if probes.is_file() else ()
    return Run(folder, name, _read_object(recipe), history, found, records)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} should hold a JSON object, came: {type(content).__name__}")
    return content


def _read_history(path: Path) -> list[dict[str, Any]]:
    """The logged rows, each step once. A last line that was cut while it was written is left out."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    history: list[dict[str, Any]] = []
    for number, line in numbered:
        row = _parse_row(line)
        if row is None and number == numbered[-1][0]:
            break
        if row is None:
            raise ValueError(f"{path}, line {number}: wanted an object with a 'step', came: {line[:60]}")
        while history and _is_written_again(history[-1], row):
            history.pop()  # a run that was resumed writes steps again, and the later writing is what happened
        history.append(row)
    return history


def _is_written_again(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a row was taken back by a later one, which a look at the encoders after the same step does not do."""
    look_after = "probes" in new and "probes" not in old
    return old["step"] > new["step"] or (old["step"] == new["step"] and not look_after)


def _parse_row(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and "step" in row else None


def compare(runs: Sequence[Run]) -> Table:
    """A row a run; runs that differ in nothing but their seed are one row with mean ± sample deviation."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(_identity(run), []).append(run)
    numbers = {key: [_numbers(run) for run in group] for key, group in groups.items()}
    names = dict.fromkeys(name for rows in numbers.values() for row in rows for name in row)
    rows = tuple(_group_row(group, numbers[key], names) for key, group in groups.items())
    note = "Loss and bound (mean over pairs), in nats, are those of the last step; ± is the sample deviation."
    return Table("Runs" if len(runs) > 1 else "", ("run", "recipe", "seeds", *names), rows, note=note)


def _identity(run: Run) -> str:
    """What runs that differ in nothing but their seed have in common."""
    fields = {name: value for name, value in run.recipe.get("fields", {}).items() if name != "seed"}
    return json.dumps([run.recipe.get("recipe"), fields], sort_keys=True)


def _group_row(
    group: Sequence[Run], numbers: Sequence[Mapping[str, Number]], names: Iterable[str]
) -> tuple[Cell, ...]:
    """The runs of one recipe, which seeds apart are the same, as a row."""
    name = group[0].name if len(group) == 1 else f"{group[0].name} … {group[-1].name}"
    seeds = {json.dumps(run.recipe.get("fields", {}).get("seed")) for run in group}
    columns = ([row[name] for row in numbers if name in row] for name in names)
    cells = (_mean_and_spread(values, len(group)) for values in columns)
    recipe = str(group[0].recipe.get("recipe") or "").rpartition("/")[2]  # of a file, its own name
    return (name, recipe or None, len(seeds), *cells)


def _numbers(run: Run) -> dict[str, Number]:
    """Every number that the comparison shows of one run, by column."""
    numbers: dict[str, Number] = {}
    if run.history:
        numbers["steps"] = run.history[-1]["step"]
        steps = [row for row in run.history if "probes" not in row]
        last = steps[-1] if steps else {}
        if "loss" in last:
            numbers["loss"] = last["loss"]
        if last.get("bounds"):
            numbers["bound"] = fmean(last["bounds"].values())
        looks = [row["probes"] for row in run.history if "probes" in row]
        numbers |= {f"look, {name}": value for name, value in (looks[-1] if looks else {}).items()}
    if rates := [row["rate"] for row in run.history if "rate" in row]:
        numbers["images/s"] = median(rates)  # the first steps are slow, so the mean would understate
    free = {name: value for name, value in (run.result or {}).items() if name not in ("command", "tables")}
    return numbers | _scalars(free)


def _scalars(values: Mapping[str, Any], above: str = "") -> dict[str, Number]:
    """The numbers in nested objects, named by their path."""
    numbers: dict[str, Number] = {}
    for name, value in values.items():
        path = f"{above} {name}".strip()
        if isinstance(value, Mapping):
            numbers |= _scalars(value, path)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers[path] = value
    return numbers


def _mean_and_spread(values: Sequence[Number], runs: int) -> Cell:
    """One number as it is; several as mean ± sample deviation; how many, where some runs have none."""
    if not values:
        return None
    counted = all(isinstance(value, int) for value in values) and len(set(values)) == 1
    text = _show(values[0]) if counted or len(values) == 1 else _show_spread(Numbers(tuple(values)))
    return text if len(values) == runs else f"{text} ({len(values)} of {runs})"


def _show(value: Number) -> str:
    """Enough digits to compare: 20,100, 57.03, 0.412."""
    return f"{value:,.{_decimals(value)}f}"


def _show_spread(numbers: Numbers) -> str:
    """Mean and sample deviation with the same decimals: 57.03 ± 0.40."""
    decimals = _decimals(numbers.mean)
    return f"{numbers.mean:,.{decimals}f} ± {numbers.deviation:,.{decimals}f}"


def _decimals(value: Number) -> int:
    if isinstance(value, int) or abs(value) >= 1000:
        return 0
    return 2 if abs(value) >= 1 else 3


def report_page(runs: Sequence[Run], looks: Mapping[Path, Sequence[Part]] | None = None) -> str:
    """The page of `coview report`: the comparison, what differs between the runs, and each run on its own.

    `looks` are further parts for some of the runs, by their folder: what their encoders say of samples.
    """
    if not runs:
        raise ValueError("a report needs at least one run, came none")
    parts: list[Part] = [compare(runs)]
    if len(runs) > 1:
        histories = {_name_among(run, runs): run.history for run in runs}
        parts = [Section("Comparison"), *parts, Curves.of_runs(histories)]
        parts += [Section("What differs"), _fields_that_differ(runs)]
    for run in runs:
        parts += _run_parts(run, (looks or {}).get(run.folder, ()))
    title = runs[0].name if len(runs) == 1 else f"{len(runs)} runs compared"
    return page(f"coview: {title}", parts)


def _fields_that_differ(runs: Sequence[Run]) -> Table | Folded:
    """The fields of the recipes that are not the same in all runs; folded where they are many."""
    recipes = [{"recipe": _show_field(run.recipe.get("recipe"))} | _fields(run) for run in runs]
    names = dict.fromkeys(name for recipe in recipes for name in recipe)
    rows = [(name, *(recipe.get(name) for recipe in recipes)) for name in names]
    differing = tuple(row for row in rows if len(set(row[1:])) > 1)
    note = "" if differing else "All runs have the same recipe and the same fields."
    head = ("field", *(run.name for run in runs))
    if len(differing) > FEW:
        return Folded(f"{len(differing)} fields of the recipes", Table("", head, differing))
    return Table("Recipe fields", head, differing, note=note)


def _fields(run: Run) -> dict[str, str]:
    """The fields of a run's recipe as text, named as `--set` names them: "negatives.draw"."""
    return {name: _show_field(value) for name, value in _flat(run.recipe.get("fields", {})).items()}


def _flat(fields: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        flat |= _flat(value, f"{above}{name}.") if isinstance(value, Mapping) else {f"{above}{name}": value}
    return flat


def _show_field(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _name_among(run: Run, runs: Sequence[Run]) -> str:
    """The run's name, or its folder where others have the same name."""
    return run.name if sum(other.name == run.name for other in runs) == 1 else str(run.folder)


def _run_parts(run: Run, looks: Sequence[Part]) -> list[Part]:
    result = run.result or {}
    parts: list[Part] = [
        Section(run.name, f"Recipe {run.recipe.get('recipe') or 'without a name'}, in {run.folder}")
    ]
    if "command" in result:
        parts.append(Command(str(result["command"])))
    parts += [Pairs.of_run(run.history, str(run.folder)), Curves.of_run(run.history, str(run.folder))]
    parts += [Table.from_record(record) for record in result.get("tables", {}).values()]
    if run.probes:
        parts.append(probe_table(run.probes, note="Percent right of the test samples."))
    fields = Table("", ("field", "value"), tuple(_fields(run).items()))
    return [*parts, *looks, Folded("Every field of the recipe", fields)]
