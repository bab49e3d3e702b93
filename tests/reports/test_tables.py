"""One table in three forms, with the same numbers in each."""

import io
import json
import re

import pytest
from rich.console import Console

from coview.reports.tables import Table, show_cell

ROWS = (
    ("L", 10.04, 57.06, 57.14),
    ("<b>|*", 99, None, 1281167),
    ("[red]x", -0.04, float("nan"), "3.0 ± 0.1"),
)
TABLE = Table(
    "Accuracy & more",
    ("view", "random", "ours", "best"),
    ROWS,
    note="chance: 10",
    rivals=("random", "ours", "best"),
)
TEXTS = ["10.0", "57.1", "57.1", "99", "–", "1,281,167", "0.0", "nan", "3.0 ± 0.1"]


def terminal(table, width=120):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(table.rich())
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (0.05, "0.1"),
        (0.04, "0.0"),
        (-0.01, "0.0"),
        (-2.26, "-2.3"),
        (12345.67, "12,345.7"),
        (3, "3"),
        (None, "–"),
        ("a", "a"),
    ],
)
def test_cells_are_rounded_to_one_decimal(cell, text):
    assert show_cell(cell) == text


def test_the_terminal_shows_every_cell_and_no_markup():
    shown = terminal(TABLE)
    for text in [*TEXTS, "[red]x", "<b>|*", "Accuracy & more", "chance: 10"]:
        assert text in shown


def test_a_title_longer_than_the_columns_stays_on_one_line():
    table = Table("What is known of it", ("view", "ours"), (("L", 1.5),), note="of so many samples")
    first, *_, last = terminal(table).splitlines()
    assert (first, last) == (table.title, table.note)


def test_a_narrow_terminal_cuts_no_cell_short():
    shown = terminal(Table("t", ("view", "ours"), (("a_long_name", "1,281,167"),)), width=20)
    assert "…" not in shown
    assert sorted(filter(str.isdigit, shown)) == sorted("1281167")


def test_html_shows_every_cell_and_escapes_names():
    html = TABLE.html()
    cells = [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td.*?>(.*?)</td>", html)]
    assert [cell for number, cell in enumerate(cells) if number % 4] == TEXTS
    assert cells[4] == "&lt;b&gt;|*"
    assert "Accuracy &amp; more" in html


def test_markdown_shows_every_cell_in_even_columns():
    lines = [line for line in TABLE.markdown().splitlines() if line.startswith("|")]
    assert len({len(line) for line in lines}) == 1
    rows = [[cell.strip().strip("*") for cell in re.split(r"(?<!\\)\|", line)[2:-1]] for line in lines[2:]]
    assert [cell for row in rows for cell in row] == TEXTS
    assert "&lt;b>\\|\\*" in lines[3]


def test_the_highest_of_the_rivals_is_bold_in_all_forms():
    assert TABLE.html().count("<b>") == 4  # 57.1 twice, 1,281,167, and 0.0 where nothing else is a number
    assert "**57.1** | **57.1**" in re.sub(" +", " ", TABLE.markdown())
    bold = [cell.plain for column in TABLE.grid().columns for cell in column.cells if cell.style == "bold"]
    assert bold == ["0.0", "57.1", "57.1", "1,281,167"]


def test_words_start_at_the_left_and_numbers_end_at_the_right():
    table = Table("", ("run", "recipe", "loss"), (("a", "demo", "-1.0 ± 0.1"), ("b", None, None)))
    assert [column.justify for column in table.grid().columns] == ["left", "left", "right"]
    assert table.html().count('class="words"') == 6
    assert table.markdown().splitlines()[1].startswith("| --- | ------ | ---------: |")


def test_a_record_comes_back_from_json_as_the_same_table():
    table = Table("Accuracy", ("view", "ours"), (("L", 1.5), ("ab", None)), note="n", rivals=("ours",))
    assert Table.from_record(json.loads(json.dumps(table.record()))) == table


def test_a_record_that_is_no_table_says_what_is_missing():
    with pytest.raises(ValueError, match=r"columns.*rows"):
        Table.from_record({"title": "x"})


def test_rows_of_another_length_and_unknown_rivals_are_refused():
    with pytest.raises(ValueError, match=r"row 1: wanted 2 cells \(view, ours\), came 1"):
        Table("t", ("view", "ours"), (("L", 1), ("ab",)))
    with pytest.raises(ValueError, match="no column"):
        Table("t", ("view", "ours"), (), rivals=("theirs",))


def test_a_table_without_rows():
    table = Table("", ("view", "ours"), ())
    assert table.markdown().count("\n") == 2
    assert "<td" not in table.html()
    assert "view" in terminal(table)
