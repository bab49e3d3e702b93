"""Warnings on the command line: one line each, said once."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OURS = Path(__file__).parents[1]


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Warnings of this package without the line of code that gave them; those of others as they are."""
    usual, said = warnings.formatwarning, set[str]()

    def plain(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
    ) -> str:
        if OURS not in Path(filename).parents:
            return usual(message, category, filename, lineno, line)
        text = f"coview: {' '.join(str(message).split())}\n"
        new = text not in said
        said.add(text)
        return text if new else ""

    warnings.formatwarning = plain
    try:
        yield
    finally:
        warnings.formatwarning = usual
