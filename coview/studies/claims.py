"""What a table is to show, as small functions of its numbers: each claim holds, does not, or cannot be said.

The spread of a difference is that of two single runs: the root of the sum of both squared sample deviations.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import hypot, isfinite

from coview.reports.outcome import Line, Numbers

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be said"

Lines = Mapping[str, Line]
"""The table's lines by name."""


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, and by which numbers."""

    word: str
    reason: str

    def __str__(self) -> str:
        return f"{self.word} ({self.reason})"


@dataclass(frozen=True)
class Claim:
    """A sentence, and what decides it."""

    words: str
    check: Callable[[Lines], Verdict]

    def verdict(self, lines: Lines) -> Verdict:
        """What the table says of it; what a failed or absent run leaves open stays open."""
        try:
            return self.check(lines)
        except Missing as missing:
            return Verdict(OPEN, str(missing))


class Missing(LookupError):
    """A number that a claim needs is not there."""


def number(lines: Lines, row: str, column: str) -> Numbers:
    """The numbers of a row in a column; a claim stays open where there are none."""
    if row not in lines:
        raise Missing(f"there is no row '{row}'")
    found = lines[row].numbers.get(column)
    if found is None:
        raise Missing(f"row '{row}' has no number for {column}")
    if not all(isfinite(value) for value in found.values):
        raise Missing(f"row '{row}' is not finite in {column}")
    return found


def beats(
    row: str, other: str, column: str, *, by: float = 0.0, there: str | None = None
) -> Callable[[Lines], Verdict]:
    """One row is above another, by more than some points; the other's column is `there` if it is not the same."""

    def check(lines: Lines) -> Verdict:
        ours, theirs = number(lines, row, column), number(lines, other, there or column)
        return judge(ours.mean - theirs.mean - by, ours, theirs, f"{ours} against {theirs}")

    return check


def within(row: str, other: str, column: str, *, points: float) -> Callable[[Lines], Verdict]:
    """One row is at most some points away from another, above or below."""

    def check(lines: Lines) -> Verdict:
        ours, theirs = number(lines, row, column), number(lines, other, column)
        return judge(points - abs(ours.mean - theirs.mean), ours, theirs, f"{ours} against {theirs}")

    return check


def best(row: str, column: str, *, of: Sequence[str] = ()) -> Callable[[Lines], Verdict]:
    """A row is not below any other of some rows, or of all."""

    def check(lines: Lines) -> Verdict:
        ours = number(lines, row, column)
        others = {n: one.numbers[column] for n, one in lines.items() if column in one.numbers and n != row}
        others = {n: one for n, one in others.items() if not of or n in of}
        if not others:
            raise Missing(f"there is no row beside '{row}' with a number for {column}")
        rival = max(others, key=lambda name: others[name].mean)
        reason = f"{ours} against {others[rival]} of '{rival}'"
        return judge(ours.mean - others[rival].mean, ours, others[rival], reason)

    return check


def rises(rows: Sequence[str], column: str) -> Callable[[Lines], Verdict]:
    """The last of some rows is above the first, and none is below the one before it by more than the spread."""

    def check(lines: Lines) -> Verdict:
        there = [name for name in rows if name in lines]
        if len(there) < 2:
            raise Missing(f"wanted two or more of the rows {', '.join(rows)}")
        found = [number(lines, name, column) for name in there]
        for name, one, before in zip(there[1:], found[1:], found, strict=False):
            if one.mean < before.mean - _spread(one, before):
                return Verdict(FAILS, f"{one} at '{name}' after {before}")
        return judge(found[-1].mean - found[0].mean, found[-1], found[0], f"from {found[0]} to {found[-1]}")

    return check


def every(*checks: Callable[[Lines], Verdict]) -> Callable[[Lines], Verdict]:
    """All of several; one that does not hold is enough against it."""

    def check(lines: Lines) -> Verdict:
        found = [Claim("", one).verdict(lines) for one in checks]
        worst = next((word for word in (FAILS, OPEN) if any(one.word == word for one in found)), HOLDS)
        told = [one for one in found if one.word == worst]
        return Verdict(worst, "; ".join(one.reason for one in told))

    return check


def judge(margin: float, ours: Numbers, theirs: Numbers, reason: str) -> Verdict:
    """A margin above the spread holds, one below minus the spread does not."""
    spread = _spread(ours, theirs)
    if abs(margin) <= spread:
        return Verdict(OPEN, f"within the spread: {reason}")
    seeds = min(len(ours.values), len(theirs.values))
    return Verdict(HOLDS if margin > 0 else FAILS, reason if seeds > 1 else f"{reason}; one seed, no spread")


def _spread(ours: Numbers, theirs: Numbers) -> float:
    return hypot(ours.deviation or 0.0, theirs.deviation or 0.0)
