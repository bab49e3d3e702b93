"""The pages of promises and of scale: every test that is named is there, and every table is of what was measured."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROMISES = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs/reliability.md").read_text())


def test_there_are_promises():
    assert len(PROMISES) > 30
    assert len(set(PROMISES)) == len(PROMISES)


@pytest.mark.parametrize(("file", "name"), PROMISES)
def test_the_test_of_a_promise_is_there(file, name):
    tree = ast.parse((ROOT / file).read_text())
    assert name in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}


@pytest.mark.parametrize("page", ["scale.md", "reliability.md"])
def test_tables_are_of_what_was_measured(page, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])
    from refresh import with_tables
    from scale_tables import TABLES

    text = (ROOT / "docs" / page).read_text()
    assert all(f"<!-- {name} -->" in text for name in TABLES[page])
    assert with_tables(text, TABLES[page]) == text, "python docs/refresh.py scale"
