"""Curves over the steps that can be zoomed into, of one run by pair or of several runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coview.reports.widgets.script import widget

POINTS = 600  # of a curve; a longer one is averaged in groups
History = Sequence[Mapping[str, Any]]
Curve = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Metric:
    """Something that is measured as training goes on: curves by name, and where known what each cannot exceed."""

    name: str
    unit: str
    curves: dict[str, Curve]
    ceilings: dict[str, Curve] = field(default_factory=dict)


@dataclass(frozen=True)
class Curves:
    """Metrics to choose from; `run` links the curves to the pairs of the same run."""

    metrics: tuple[Metric, ...]
    run: str = ""

    @staticmethod
    def of_run(history: History, run: str) -> "Curves":
        """Loss, information and probes of one run."""
        bounds = _curves(history, "bounds")
        metrics = [
            Metric("information", "nats", bounds, _curves(history, "ceilings") if bounds else {}),
            Metric("loss", "nats", _curves(history, "terms")),
            Metric("probes of held-out training samples", "% right", _curves(history, "probes")),
        ]
        return Curves(tuple(metric for metric in metrics if metric.curves), run)

    @staticmethod
    def of_runs(histories: Mapping[str, History]) -> "Curves":
        """Loss and mean information of several runs."""
        loss = {
            name: _thin([(row["step"], row["loss"]) for row in rows if "loss" in row])
            for name, rows in histories.items()
        }
        bound = {
            name: _thin([(row["step"], _mean(row["bounds"])) for row in rows if row.get("bounds")])
            for name, rows in histories.items()
        }
        metrics = (
            Metric("mean information of the pairs", "nats", bound),
            Metric("loss, all pairs together", "nats", loss),
        )
        return Curves(
            tuple(metric for metric in metrics if any(curve[0] for curve in metric.curves.values()))
        )

    def html(self) -> str:
        metrics = [
            {"name": m.name, "unit": m.unit, "curves": m.curves, "ceilings": m.ceilings} for m in self.metrics
        ]
        return widget("curves", {"run": self.run, "metrics": metrics}, "The curves need scripts to be shown.")


def _curves(history: History, kind: str) -> dict[str, Curve]:
    names = dict.fromkeys(name for row in history for name in row.get(kind, {}))
    return {
        name: _thin([(row["step"], row[kind][name]) for row in history if name in row.get(kind, {})])
        for name in names
    }


def _thin(points: Sequence[tuple[float, float]]) -> Curve:
    """A long curve as the means of groups of neighbours, each placed at the last step of its group."""
    size = max(1, -(-len(points) // POINTS))
    groups = [points[at : at + size] for at in range(0, len(points), size)]
    return [group[-1][0] for group in groups], [
        _short(_mean(dict(enumerate(y for _, y in group)))) for group in groups
    ]


def _mean(values: Mapping[Any, float]) -> float:
    return sum(values.values()) / len(values)


def _short(value: float) -> float:
    return float(f"{value:.5g}")
