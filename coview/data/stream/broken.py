"""Files that cannot be used: remembered, named, and too many of them stop the run."""

import warnings
from bisect import bisect_left
from dataclasses import dataclass
from os import PathLike

NAMED = 10  # files that a message names


class BrokenFiles(OSError):
    """More files are broken than can be left out."""


@dataclass(frozen=True)
class Fault:
    """A sample that cannot be used, and why."""

    number: int
    path: str | PathLike[str]
    reason: str

    @staticmethod
    def of(number: int, path: str | PathLike[str], error: Exception) -> "Fault":
        """The fault that an error tells of; the system's errors name the path again."""
        return Fault(number, path, getattr(error, "strerror", None) or str(error) or type(error).__name__)

    def __str__(self) -> str:
        return f"{self.path} ({self.reason})"


class Broken:
    """The broken samples of a dataset by number; they are not tried again."""

    def __init__(self) -> None:
        self.faults: dict[int, Fault] = {}
        self.told = 0  # how many of them a warning has named

    def note(self, faults: list[Fault], dataset: str, samples: int, tolerate: float) -> None:
        """Remember the faults of a batch, and stop if there are too many by now."""
        self.faults |= {fault.number: fault for fault in faults}
        if faults and len(self.faults) > tolerate * samples:
            raise BrokenFiles(
                f"{self._count(samples)} of dataset '{dataset}' are broken, more than the {100 * tolerate:g} % "
                f"that may be left out: {_listing(list(self.faults.values()))}; "
                "mend or remove them, or raise `tolerate`"
            )

    def tell(self, dataset: str, samples: int) -> None:
        """Warn of what has been found since the last time."""
        faults = list(self.faults.values())
        if self.told < len(faults):
            listing = _listing(faults[self.told :] + faults[: self.told])
            self.told = len(faults)
            warnings.warn(
                f"{self._count(samples)} of dataset '{dataset}' are broken and were left out: {listing}",
                stacklevel=3,
            )

    def _count(self, samples: int) -> str:
        return f"{len(self.faults):,} of {samples:,} samples"


def all_broken(faults: list[Fault], dataset: str) -> BrokenFiles:
    """The error for a batch of which nothing is left."""
    return BrokenFiles(
        f"all {len(faults):,} samples of a batch of dataset '{dataset}' are broken: {_listing(faults)}; "
        "mend or remove them"
    )


def stand_ins(good: list[int], places: int) -> list[int]:
    """Who stands at each place of a batch: the sample itself if it is good, else the next good one."""
    return [good[bisect_left(good, place) % len(good)] for place in range(places)]


def _listing(faults: list[Fault]) -> str:
    more = f" and {len(faults) - NAMED:,} more" if len(faults) > NAMED else ""
    return ", ".join(str(fault) for fault in faults[:NAMED]) + more
