"""One run of a study: a row with a seed, its folder, and what is there of it already."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coview.reports.runs import read_run
from coview.studies.study import Measure, Row
from coview.training import Recipe, RunFolder, describe

RESULT = "result.json"
NO_MATTER = (
    "log_every",
    "save_every",
    "probe_every",
    "compile",
    "capture",
)  # fields that may differ from the run's


@dataclass(frozen=True, kw_only=True)
class Job:
    """A run of a study, which is to be done, done in part, or done."""

    row: Row
    seed: int
    recipe: Recipe
    origin: dict[str, Any]
    folder: Path
    samples: int  # that it learns from in an epoch

    @property
    def name(self) -> str:
        return f"{self.row.name}, seed {self.seed}"

    @property
    def batch(self) -> int:
        """Samples of a step: a set smaller than a batch is taken whole."""
        return min(self.recipe.batch_size, self.samples or self.recipe.batch_size)

    @property
    def steps(self) -> int:
        """The steps of the whole run."""
        epoch = self.samples // self.batch if self.samples else 1
        return int(min(self.recipe.epochs * epoch, self.recipe.steps or math.inf)) if self.samples else 0

    def result(self) -> dict[str, Any]:
        """What the run folder holds of the study; nothing before the run has come to something."""
        return RunFolder(self.folder).read_json(RESULT) if (self.folder / RESULT).is_file() else {}

    def note(self, **news: Any) -> None:
        """Add to what the run folder holds of the study; None takes away."""
        result = {name: value for name, value in {**self.result(), **news}.items() if value is not None}
        RunFolder(self.folder).write_json(RESULT, result)

    @property
    def trained(self) -> bool:
        return "trained" in self.result()

    def unmeasured(self) -> dict[str, Measure]:
        """The measures that are not taken yet, or were taken in another way."""
        how = self.result().get("how", {})
        return {name: one for name, one in self.row.measures.items() if how.get(name) != spell(one)}

    @property
    def done(self) -> bool:
        return self.trained and not self.unmeasured()

    def numbers(self) -> dict[str, float]:
        """What was measured, by column, and still is what the row asks for."""
        found: dict[str, float] = {}
        missing = self.unmeasured()
        for name, value in self.result().get("measured", {}).items():
            if name in self.row.measures and name not in missing:
                found |= value if isinstance(value, Mapping) else {name: value}
        return found

    def history(self) -> list[dict[str, Any]]:
        """The rows that training has logged so far, without those of looks at the encoders."""
        if not (self.folder / "recipe.json").is_file():
            return []
        return [row for row in read_run(self.folder).history if "probes" not in row]

    def check(self) -> None:
        """Refuse a folder in which something else was trained."""
        if not (self.folder / "recipe.json").is_file():
            return
        old = dict(_leaves(RunFolder(self.folder).read_json("recipe.json").get("fields", {})))
        new = dict(_leaves(describe(self.recipe)))
        for name in dict.fromkeys([*new, *old]):
            if name not in NO_MATTER and old.get(name) != new.get(name):
                raise ValueError(
                    f"{self.folder} was trained with {name} = {_short(old.get(name))}, wanted is "
                    f"{_short(new.get(name))}: set it back, name another folder with --runs, or delete that one"
                )


def spell(measure: Measure) -> str:
    """A measure with its numbers in one line, by which it is known again."""
    made = describe(measure)
    if isinstance(made, str):
        return made
    given = ", ".join(f"{name}={json.dumps(value)}" for name, value in made.items() if name != "call")
    return f"{made['call']}({given})"


def _leaves(fields: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its dotted name, as --set has it."""
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
