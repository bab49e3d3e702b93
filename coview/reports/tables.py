"""A table described once, and shown in the terminal, on a page and in Markdown."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from math import isfinite
from typing import Any

from rich.console import Group
from rich.table import Table as RichTable
from rich.text import Text

Cell = str | float | int | None


@dataclass(frozen=True)
class Table:
    """Columns and rows of cells; None means there is no number, and is shown as a dash."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    rivals: tuple[str, ...] = ()  # columns that compete: the highest number of a row among them is bold

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                wanted = f"{len(self.columns)} cells ({', '.join(self.columns)})"
                raise ValueError(f"table '{self.title}', row {number}: wanted {wanted}, came {len(row)}")
        if unknown := set(self.rivals) - set(self.columns):
            raise ValueError(
                f"table '{self.title}': no column {sorted(unknown)}, there are {list(self.columns)}"
            )

    def rich(self) -> Group:
        """The table for a terminal; title and note are as wide as they need, not as the columns are."""
        above = [Text(self.title, style="table.title")] if self.title else []
        below = [Text(self.note, style="table.caption")] if self.note else []
        return Group(*above, self.grid(), *below)

    def grid(self) -> RichTable:
        """The columns alone, for a terminal."""
        table = RichTable()
        for number, name in enumerate(self.columns):
            side = "left" if self._wordy(number) else "right"
            table.add_column(Text(name), justify=side, overflow="fold")
        for texts, bold in self._shown():
            cells = zip(texts, bold, strict=True)
            table.add_row(*(Text(text, style="bold" if best else "") for text, best in cells))
        return table

    def html(self) -> str:
        """The table as an HTML element; it brings no style of its own."""
        wordy = [self._wordy(number) for number in range(len(self.columns))]
        head = _html_row("th", [escape(name) for name in self.columns], wordy)
        body = "\n".join(_html_row("td", _html_cells(*shown), wordy) for shown in self._shown())
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        note = f'\n<p class="note">{escape(self.note)}</p>' if self.note else ""
        return f'<div class="table"><table>{caption}\n{head}\n{body}\n</table></div>{note}'

    def markdown(self) -> str:
        """The table as Markdown, whose columns are padded so that the source reads well too."""
        grid = [[_markdown_text(name) for name in self.columns]]
        for texts, bold in self._shown():
            texts = [_markdown_text(text) for text in texts]
            grid.append([f"**{text}**" if best else text for text, best in zip(texts, bold, strict=True)])
        widths = [max(3, *map(len, column)) for column in zip(*grid, strict=True)]
        wordy = [self._wordy(number) for number in range(len(widths))]
        lines = ["| " + " | ".join(_pad(line, widths, wordy)) + " |" for line in grid]
        rule = ["-" * (width - 1) + ("-" if left else ":") for width, left in zip(widths, wordy, strict=True)]
        lines.insert(1, "| " + " | ".join(rule) + " |")
        above = [f"**{_markdown_text(self.title)}**", ""] if self.title else []
        below = ["", _markdown_text(self.note)] if self.note else []
        return "\n".join([*above, *lines, *below]) + "\n"

    def record(self) -> dict[str, Any]:
        """The table as plain values, as `result.json` keeps it."""
        return asdict(self)

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> "Table":
        """The table that `record` wrote."""
        if missing := {"title", "columns", "rows"} - set(record):
            raise ValueError(f"a stored table has title, columns and rows; {sorted(missing)} missing")
        rows = tuple(tuple(row) for row in record["rows"])
        rivals = tuple(record.get("rivals", ()))
        return Table(record["title"], tuple(record["columns"]), rows, record.get("note", ""), rivals)

    def _shown(self) -> list[tuple[list[str], list[bool]]]:
        """The text of every cell, and which are bold."""
        return [([show_cell(cell) for cell in row], self._bold(row)) for row in self.rows]

    def _wordy(self, number: int) -> bool:
        """Whether a column holds words, which start at the left, and not numbers, which end at the right."""
        column = [row[number] for row in self.rows]
        words = [cell for cell in column if isinstance(cell, str)]
        return number == 0 or not all(word.removeprefix("-")[:1].isdigit() for word in words)

    def _bold(self, row: tuple[Cell, ...]) -> list[bool]:
        """Which cells hold the highest number among the rivals, as shown: equal numbers are equally bold."""
        shown = [
            round(cell, 1)
            if name in self.rivals and isinstance(cell, int | float) and isfinite(cell)
            else None
            for name, cell in zip(self.columns, row, strict=True)
        ]
        best = max((number for number in shown if number is not None), default=None)
        return [number is not None and number == best for number in shown]


def show_cell(cell: Cell) -> str:
    """Floats with one decimal, whole numbers with their thousands apart, a dash for nothing."""
    if cell is None:
        return "–"
    if isinstance(cell, float):
        text = f"{cell:,.1f}"
        return "0.0" if text == "-0.0" else text
    return f"{cell:,}" if isinstance(cell, int) else cell


def _html_cells(texts: list[str], bold: list[bool]) -> list[str]:
    return [
        f"<b>{escape(text)}</b>" if best else escape(text) for text, best in zip(texts, bold, strict=True)
    ]


def _html_row(tag: str, cells: list[str], wordy: list[bool]) -> str:
    opening = (f'<{tag} class="words">' if left else f"<{tag}>" for left in wordy)
    inside = (f"{first}{cell}</{tag}>" for first, cell in zip(opening, cells, strict=True))
    return f"<tr>{''.join(inside)}</tr>"


def _markdown_text(text: str) -> str:
    """Text whose bars, tags and line ends do not break the table."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").replace("*", "\\*")
    return " ".join(safe.split())


def _pad(line: list[str], widths: list[int], wordy: list[bool]) -> list[str]:
    cells = zip(line, widths, wordy, strict=True)
    return [text.ljust(width) if left else text.rjust(width) for text, width, left in cells]
