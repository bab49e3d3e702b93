"""The page from the paper to the code: every file that it names is there, and has what it is named for."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAP = (ROOT / "docs/method.md").read_text().split("\n## ")[0]
ROWS = re.findall(r"^\| (.+?) \| (.+?) \| (`.+) \|$", MAP, re.MULTILINE)


def text_of(path: str, folder: Path) -> tuple[str, Path]:
    """What a file or the files of a folder say; a name alone is that of a file beside the one before."""
    found = [place for place in (folder / path, ROOT / "coview" / path, ROOT / path) if place.exists()]
    assert found, f"there is no {path}"
    place = found[0]
    files = place.rglob("*.py") if place.is_dir() else [place]
    return "\n".join(one.read_text() for one in files), place.parent


def test_there_is_a_map():
    assert len(ROWS) > 40
    assert len(ROWS) == len(re.findall(r"^\|", MAP, re.MULTILINE)) - 2, "but for the head, every row is read"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1][:30]}")
def test_what_a_row_names_is_there(row):
    text, folder = "", ROOT
    for word in re.findall(r"`([^`]+)`", row[2]):
        if word.startswith("coview "):
            continue
        if word.endswith(("/", ".py", ".txt")):
            text, folder = text_of(word, folder)
        else:
            for name in re.match(r"[\w.]+", word).group().split("."):
                assert re.search(rf"\b{name}\b", text), f"{name} is not where it is said to be"
