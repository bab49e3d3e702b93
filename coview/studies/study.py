"""What a study is: a table's rows, each a recipe run over seeds and measured, and what the table is to show."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coview.reports.comparison import Draw, bars
from coview.studies.claims import Claim
from coview.studies.subject import Subject
from coview.studies.ways import CONTRAST, Way

Measure = Callable[[Subject], float | Mapping[str, float]]
"""What is measured in trained encoders: a number for its column, or several, each with the name of its column."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of the table: a recipe, how its encoders come about, and what is measured in them.

    Without a recipe there is nothing to run, and the line has the paper's numbers only.
    """

    name: str
    recipe: str | None = None  # as `coview train` names it
    settings: tuple[str, ...] = ()  # as `--set` takes them
    way: Way = CONTRAST
    measures: Mapping[str, Measure] = field(default_factory=dict)  # by column
    paper: Mapping[str, float] = field(default_factory=dict)  # by column
    at: float | None = None  # where it stands on the axis of a curve
    longer: float = 1.0  # times as many epochs as its recipe has after all settings
    samples: int | None = None  # that it learns from, where its recipe leaves some of the split out


@dataclass(frozen=True, kw_only=True)
class Study:
    """A table of the paper, or of the same kind, to be run on any data that fit."""

    name: str
    claim: str
    paper: str  # where the paper has it
    data: str  # what the paper takes; `--data-name` names another
    rows: Callable[[str], Sequence[Row]]  # of a data name
    samples: Callable[[str, str | None], Mapping[str, int]]
    """How many samples a data name has by split, seen without loading them; absent data say how to get them."""
    fitted: str = ""  # how sizes follow from other data
    claims: tuple[Claim, ...] = ()
    figure: Draw = bars
    seeds: tuple[int, ...] = (0, 1, 2)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Which data a study runs on, and where its runs lie."""

    data: str
    root: str | None = None
    runs: Path = Path("runs")
    protocol: str | None = None  # that probes are fitted by, where it is not that of the rows
