"""Training as it goes: a bar with images/s and time left, and loss and information per pair."""

import time
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text


class LiveTraining:
    """Shows every row that training logs; where there is no terminal, a line now and then."""

    def __init__(
        self, console: Console, title: str, *, quiet_seconds: float = 10.0, quiet: bool = False
    ) -> None:
        console = Console(quiet=True, force_terminal=False) if quiet else console
        self.console, self.title, self.quiet_seconds = console, title, quiet_seconds
        self.progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            TextColumn(
                "{task.completed:.0f}/{task.total:.0f} steps  {task.fields[rate]:,.0f} images/s  left"
            ),
            TimeRemainingColumn(),
            console=console,
        )
        self.task = self.progress.add_task(title, total=None, rate=0.0, visible=False)
        self.live = Live(console=console, refresh_per_second=4, transient=False)
        self.said = 0.0
        self.row: dict[str, Any] | None = None  # the last that has terms
        self.looked: Text | None = None

    def __enter__(self) -> "LiveTraining":
        if self.console.is_terminal:
            self.live.start()
            self.live.update(Text(f"{self.title}: getting the data ready ...", style="dim"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.console.is_terminal:
            self.live.stop()

    def observe(self, row: dict[str, Any]) -> None:
        """Show a logged row: of a step, or of a look at the encoders."""
        if "probes" in row:
            self._observe_look(row)
            return
        self.row = row
        self.progress.update(
            self.task, completed=row["step"], total=row["steps"], rate=row["rate"], visible=True
        )
        if self.console.is_terminal:
            self._draw()
        elif time.monotonic() - self.said > self.quiet_seconds or row["step"] == row["steps"]:
            self.said = time.monotonic()
            self.console.print(Text(self._line(row)), soft_wrap=True)

    def _observe_look(self, row: dict[str, Any]) -> None:
        numbers = "  ".join(f"{name} {value:.1f}" for name, value in row["probes"].items())
        self.looked = Text(f"after epoch {row['epoch']:.0f}, % of held-out training samples:  {numbers}")
        if self.console.is_terminal:
            self._draw()
        else:
            self.console.print(Text(f"{self.title}: {self.looked}"), soft_wrap=True)

    def _draw(self) -> None:
        table = [] if self.row is None else [pair_table(self.row)]
        looked = [] if self.looked is None else [self.looked]
        self.live.update(Group(self.progress, *table, *looked))

    def _line(self, row: dict[str, Any]) -> str:
        bounds = list(row["bounds"].values())
        information = f"  information {sum(bounds) / len(bounds):.2f} nats a pair" if bounds else ""
        return (
            f"{self.title}: step {row['step']}/{row['steps']}  loss {row['loss']:.3f}{information}"
            f"  {row['rate']:,.0f} images/s"
        )


def pair_table(row: dict[str, Any]) -> Table:
    """Anchors down, targets across: the loss, and the information in nats that it proves."""
    pairs = [name.split("->") for name in row["terms"]]
    targets = list(dict.fromkeys(target for _, target in pairs))
    table = Table(box=None, padding=(0, 2), title=None)
    table.add_column(Text("loss (information, nats)" if row["bounds"] else "loss", style="dim"))
    for target in targets:
        table.add_column(Text(f"-> {target}"), justify="right")
    for anchor in dict.fromkeys(anchor for anchor, _ in pairs):
        table.add_row(anchor, *(_cell(row, f"{anchor}->{target}") for target in targets))
    return table


def _cell(row: dict[str, Any], pair: str) -> Text:
    if pair not in row["terms"]:
        return Text("")
    bound = f" ({row['bounds'][pair]:.2f})" if pair in row["bounds"] else ""
    return Text(f"{row['terms'][pair]:.2f}{bound}")
