"""What training logs, sent to Weights & Biases or MLflow as well; TensorBoard's events are always in the run folder."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from coview.names import did_you_mean
from coview.training import Recipe, describe

Row = dict[str, Any]
PLACES = ("wandb", "mlflow")


class Elsewhere:
    """Opens the places that were asked for, sends them every row, and closes them, whatever happens."""

    def __init__(self, places: Sequence[str], recipe: Recipe, folder: Path) -> None:
        for place in places:
            if place not in PLACES:
                raise ValueError(
                    f"--log goes to {' or '.join(PLACES)}, got '{place}'{did_you_mean(place, PLACES)}"
                )
        self.makers = [{"wandb": _WandB, "mlflow": _MLflow}[place] for place in places]
        self.recipe, self.folder = recipe, folder
        self.opened: list[Any] = []

    def __enter__(self) -> "Elsewhere":
        fields = flat(describe(self.recipe))
        first = os.environ.get("RANK", "0") == "0"  # of several processes one tells
        for make in self.makers if first else ():
            self.opened.append(make(self.folder, fields))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for place in self.opened:
            place.close(failed=error is not None)

    def observe(self, row: Row) -> None:
        """Send the numbers of a logged row."""
        numbers = numbers_of(row)
        for place in self.opened:
            place.log(numbers, int(row["step"]))


def each(*observers: Callable[[Row], None]) -> Callable[[Row], None]:
    """One observer that tells several."""

    def observe(row: Row) -> None:
        for one in observers:
            one(row)

    return observe


def numbers_of(row: Row) -> dict[str, float]:
    """A row as numbers by name: those of TensorBoard's events, "terms/L->ab" and so on."""
    plain = {name: row[name] for name in ("loss", "learning_rate", "rate", "epoch") if name in row}
    groups = {
        f"{group}/{name}": value
        for group in ("terms", "bounds", "probes")
        for name, value in row.get(group, {}).items()
    }
    return {name: float(value) for name, value in {**plain, **groups}.items()}


def flat(value: Any, above: str = "") -> dict[str, str | int | float | bool]:
    """Nested fields as dotted names."""
    if isinstance(value, dict):
        return {
            key: one for name, inner in value.items() for key, one in flat(inner, f"{above}{name}.").items()
        }
    plain = value if isinstance(value, str | int | float | bool) else repr(value)
    return {above.rstrip("."): plain}


class _WandB:
    """A run of Weights & Biases; without a network it keeps what it is given (WANDB_MODE=offline)."""

    def __init__(self, folder: Path, fields: dict[str, Any]) -> None:
        module = _module("wandb")
        folder.parent.mkdir(parents=True, exist_ok=True)
        self.run = module.init(project="coview", name=folder.name, config=fields, dir=str(folder.parent))

    def log(self, numbers: dict[str, float], step: int) -> None:
        self.run.log(numbers, step=step)

    def close(self, *, failed: bool) -> None:
        self.run.finish(exit_code=int(failed))


class _MLflow:
    """A run of MLflow, at MLFLOW_TRACKING_URI or in its own place here."""

    def __init__(self, folder: Path, fields: dict[str, Any]) -> None:
        self.module = _module("mlflow")
        self.module.set_experiment("coview")
        self.module.start_run(run_name=folder.name)
        self.module.log_params({name: str(value)[:500] for name, value in fields.items()})

    def log(self, numbers: dict[str, float], step: int) -> None:
        # MLflow allows no '>' in a name
        self.module.log_metrics(
            {name.replace("->", " to "): value for name, value in numbers.items()}, step=step
        )

    def close(self, *, failed: bool) -> None:
        self.module.end_run("FAILED" if failed else "FINISHED")


def _module(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError as error:
        raise ModuleNotFoundError(f"--log {name} needs {name}: pip install 'coview[{name}]'") from error
