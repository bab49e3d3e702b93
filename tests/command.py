"""The command line as the tests call it."""

import sys

import pytest
from rich.console import Console

import coview.cli.app
from coview.cli import main


class Said:
    """What a command wrote, and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def words(self) -> str:
        """What was written, wherever its lines were broken."""
        return " ".join(self.out.split())

    @property
    def line(self) -> str:
        """The one line of an error; nothing else may be said."""
        (line,) = self.err.splitlines()
        assert line.startswith("coview: ")
        assert "Traceback" not in self.out
        return line


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line as `coview ...` does."""
    monkeypatch.setattr(coview.cli.app, "console", Console(width=200))

    def call(*arguments) -> Said:
        monkeypatch.setattr(sys, "argv", ["coview", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return Said(end.value.code, *capsys.readouterr())

    return call
