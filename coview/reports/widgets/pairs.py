"""What every pair of views says of each other: anchors down, targets across."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coview.reports.widgets.script import widget


@dataclass(frozen=True)
class Pairs:
    """Loss, information and its ceiling of each directed pair at the end; a click shows the pair's curve."""

    rows: dict[str, dict[str, float | None]]  # "L->ab" -> {"loss": ..., "information": ..., "ceiling": ...}
    run: str = ""

    @staticmethod
    def of_run(history: Sequence[Mapping[str, Any]], run: str) -> "Pairs":
        """The last row that was logged of every pair."""
        rows: dict[str, dict[str, float | None]] = {}
        for row in history:
            for name, loss in row.get("terms", {}).items():
                bound, ceiling = (row.get(kind, {}).get(name) for kind in ("bounds", "ceilings"))
                rows[name] = {"loss": loss, "information": bound, "ceiling": ceiling}
        return Pairs(rows, run)

    def html(self) -> str:
        return widget("pairs", {"run": self.run, "rows": self.rows}, "The pairs need scripts to be shown.")
