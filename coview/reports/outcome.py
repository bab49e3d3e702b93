"""What a study found, line by line: the numbers of every seed by column, beside the paper's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt


@dataclass(frozen=True)
class Numbers:
    """One number of each seed; the spread is their sample deviation, unknown of a single one."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError("wanted the number of at least one seed, got none")

    @property
    def mean(self) -> float:
        return sum(self.values) / len(self.values)

    @property
    def deviation(self) -> float | None:
        """The sample deviation; statistics.stdev stops at a value that is not finite, which a run may have."""
        if len(self.values) < 2:
            return None
        return sqrt(sum((value - self.mean) ** 2 for value in self.values) / (len(self.values) - 1))

    def __str__(self) -> str:
        spread = "" if self.deviation is None else f" ± {self.deviation:.2f}"
        return f"{self.mean:.2f}{spread}"


@dataclass(frozen=True)
class Line:
    """A row of a study as it came out."""

    name: str
    numbers: Mapping[str, Numbers] = field(default_factory=dict)
    paper: Mapping[str, float] = field(default_factory=dict)
    at: float | None = None  # where it stands on the axis of a curve


def columns_of(lines: Sequence[Line]) -> list[str]:
    """All columns in which some line has a number, its own or the paper's."""
    return list(dict.fromkeys(name for line in lines for name in [*line.numbers, *line.paper]))
