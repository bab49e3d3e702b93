"""What a study will run, before it runs: every row with every seed, and what is there of each."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from coview.names import did_you_mean
from coview.recipes.find import find_recipe
from coview.studies.job import Job
from coview.studies.measures import fitted_by
from coview.studies.settings import settle, settle_where_there
from coview.studies.study import Place, Row, Study


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All runs of a study at a place, and which of its rows are to be run now."""

    study: Study
    place: Place
    rows: tuple[Row, ...]
    jobs: tuple[Job, ...]
    chosen: frozenset[str] = field(default_factory=frozenset)  # names of rows

    @property
    def todo(self) -> list[Job]:
        """The runs that are left, seeds of a row one after the other: what is compiled for one serves the next."""
        return [job for job in self.jobs if job.row.name in self.chosen and not job.done]


def make_plan(
    study: Study,
    place: Place,
    *,
    seeds: Sequence[int] = (),
    pattern: str | None = None,
    settings: Sequence[str] = (),
) -> Plan:
    """Every row with every seed, and the rows that a pattern chooses; what cannot run is refused here."""
    samples = study.samples(
        place.data, place.root
    )  # first, since absent data are the likeliest of all mistakes
    rows = tuple(_fitted(row, place.protocol) for row in study.rows(place.data))
    jobs = []
    for row in rows:
        if row.recipe is not None:
            taken = _taken(study, place, row, settings)
            jobs += [_job(study, place, row, seed, taken, samples) for seed in seeds or study.seeds]
    _check_settings(study, place, rows, settings)
    chosen = choose(rows, pattern)
    for job in jobs:
        job.check()
    return Plan(study=study, place=place, rows=rows, jobs=tuple(jobs), chosen=frozenset(chosen))


def choose(rows: Iterable[Row], pattern: str | None) -> list[str]:
    """The names of the rows that have a recipe and fit a pattern: part of a name, or with * and ?."""
    names = [row.name for row in rows if row.recipe is not None]
    if pattern is None:
        return names
    wild = pattern if any(sign in pattern for sign in "*?[") else f"*{pattern}*"
    found = [name for name in names if fnmatchcase(name.lower(), wild.lower())]
    if not found:
        raise ValueError(
            f"no row fits --rows '{pattern}'{did_you_mean(pattern, names)}; there are {'; '.join(names)}"
        )
    return found


def _fitted(row: Row, protocol: str | None) -> Row:
    """The row with its probes fitted by a protocol."""
    if protocol is None:
        return row
    return replace(row, measures={name: fitted_by(one, protocol) for name, one in row.measures.items()})


def _taken(study: Study, place: Place, row: Row, settings: Sequence[str]) -> list[str]:
    root = [] if place.root is None else [f"data.root={place.root}"]
    name = _recipe_name(study, place, row)
    taken = settle_where_there(name, row.settings, [*root, *settings])
    if row.longer == 1:
        return taken
    recipe, _ = find_recipe(name, settle(name, taken))
    return [*taken, f"epochs={round(recipe.epochs * row.longer)}"]


def _job(study: Study, place: Place, row: Row, seed: int, settings: Sequence[str], samples: Any) -> Job:
    name = _recipe_name(study, place, row)
    recipe, origin = find_recipe(name, settle(name, [*settings, f"seed={seed}"]))
    origin |= {"study": study.name, "row": row.name, "way": row.way.name}
    folder = place.runs / slug(study.name) / slug(place.data) / f"{slug(row.name)}-seed{seed}"
    count = samples[row.way.split] if row.way.split else 0
    count = min(count, getattr(recipe.data, "keywords", {}).get("samples") or count)  # --set data.samples
    count = min(count, row.samples or count)
    return Job(row=row, seed=seed, recipe=recipe, origin=origin, folder=folder, samples=count)


def _recipe_name(study: Study, place: Place, row: Row) -> str:
    """The row's recipe, fitted to the data unless they are the paper's."""
    assert row.recipe is not None
    fixed = place.data == study.data or "@" in row.recipe
    return row.recipe if fixed else f"{row.recipe}@{place.data}"


def _check_settings(study: Study, place: Place, rows: Iterable[Row], settings: Sequence[str]) -> None:
    """Refuse a setting that no row has, with the complaint of the first."""
    names = [(_recipe_name(study, place, row), row) for row in rows if row.recipe is not None]
    for setting in settings:
        if all(setting not in settle_where_there(name, row.settings, [setting]) for name, row in names):
            settle(names[0][0], [*names[0][1].settings, setting])


def slug(name: str) -> str:
    """A name as part of a folder's name; of data in a folder, the last part of it."""
    last = name.rstrip("/").rpartition("/")[2]
    return re.sub(r"[^\w.]+", "-", last.lower()).strip("-.") or "row"
