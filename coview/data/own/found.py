"""What was found in a folder, a manifest or arrays: views by name, and which samples have them."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int
from torch import nn

TRAIN, TEST = "train", "test"
UNKNOWN = -1  # the label of a sample that has none
MOST_CLASSES = 1000


@dataclass(frozen=True)
class Column:
    """One view of N samples: a file for each that has it, or the values of all, rows of NaN where it is missing."""

    name: str
    files: tuple[Path | None, ...] | None = None
    values: np.ndarray | None = None  # [N F] or [N C H W]

    @property
    def present(self) -> Bool[np.ndarray, "N"]:
        if self.files is not None:
            return np.array([file is not None for file in self.files])
        assert self.values is not None
        if self.values.dtype.kind != "f":
            return np.ones(len(self.values), dtype=bool)
        return np.logical_not(np.isnan(self.values).reshape(len(self.values), -1).all(1))


@dataclass(frozen=True)
class Found:
    """Samples by name and their views; where known a label (-1: none) and a split for each."""

    place: Path
    samples: tuple[str, ...]
    columns: Mapping[str, Column]
    label: Int[np.ndarray, "N"] | None = None
    classes: tuple[str, ...] = ()
    split: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()  # what a user should know, a line each

    def __len__(self) -> int:
        return len(self.samples)

    def part(self, split: str, *, held_out: float = 0.2) -> Int[np.ndarray, "S"]:
        """The samples of a split: those that say so, else a share held out by names, or all."""
        if split == "all":
            return np.arange(len(self))
        if split not in (TRAIN, TEST):
            raise ValueError(f"your data has the splits train, test and all, got '{split}'")
        test = self._test(held_out)
        rows = np.flatnonzero(test == (split == TEST))
        if not len(rows):
            raise ValueError(f"{self.place} has no samples to {'test' if split == TEST else 'train'} on")
        return rows

    def _test(self, held_out: float) -> Bool[np.ndarray, "N"]:
        if self.split is not None:
            return np.array([name == TEST for name in self.split])
        # By a hash of the name: what is added later moves hardly any sample from one part to the other.
        order = np.argsort([hashlib.sha1(name.encode()).hexdigest() for name in self.samples], kind="stable")
        test = np.zeros(len(self), dtype=bool)
        test[order[: round(held_out * len(self))]] = True
        return test


def check_views(
    columns: Mapping[str, Column], place: Path, samples: Sequence[str], *, alone: bool = False
) -> None:
    """Refuse views of which nothing is there, and those that have no sample in common with another."""
    present = {name: column.present for name, column in columns.items()}
    for name, have in present.items():
        if not have.any():
            raise ValueError(f"view '{name}' of {place} is empty: fill it, or take it away")
    if alone:
        return
    if len(columns) < 2:
        raise ValueError(
            f"{place} has one view, '{next(iter(columns))}': contrast needs two or more of the same things"
        )
    for name, have in present.items():
        others = [other for other in present if other != name]
        if not any((have & present[other]).any() for other in others):
            raise ValueError(
                f"view '{name}' shares no sample with another view: it has '{_first(samples, have)}', "
                f"'{others[0]}' has '{_first(samples, present[others[0]])}'; files of one sample need one name"
            )


def view_names(names: Sequence[str]) -> dict[str, str]:
    """Names as they are found, to names that a view can have; two must not become one."""
    safe = {name: _view_name(name) for name in names}
    for name, one in safe.items():
        same = [other for other in names if safe[other] == one]
        if len(same) > 1:
            raise ValueError(
                f"views '{same[0]}' and '{same[1]}' would both be called '{safe[name]}': rename one"
            )
    return safe


def renamed(safe: Mapping[str, str]) -> list[str]:
    """A note for every view that is called otherwise than its folder or column."""
    return [f"view '{name}' is called '{one}' here" for name, one in safe.items() if name != one]


def normal_name(text: str) -> str:
    """One form for names that look alike: some systems write é as one letter, others as e and an accent."""
    return unicodedata.normalize("NFC", text)


def numbered_labels(
    words: Sequence[str | None], place: str
) -> tuple[Int[np.ndarray, "N"] | None, tuple[str, ...], list[str]]:
    """Labels as numbers of classes, the classes in order, and notes on what is left out."""
    known = [word for word in words if word is not None]
    classes = _in_order(set(known))
    if len(classes) < 2 or len(classes) > min(MOST_CLASSES, len(known) / 2):
        values = "1 value" if len(classes) == 1 else f"{len(classes)} different values"
        return None, (), [f"the labels in {place} have {values}: nothing to probe"]
    number = {word: index for index, word in enumerate(classes)}
    label = np.array([UNKNOWN if word is None else number[word] for word in words])
    gaps = len(words) - len(known)
    note = f"{len(known):,} of {len(words):,} samples have a label in {place}: probes use those alone"
    return label, classes, [note] if gaps else []


def known_split(words: Sequence[str | None], place: str) -> tuple[str, ...]:
    """Splits as "train" and "test"; another word is refused, and a gap too."""
    called = {"train": TRAIN, "training": TRAIN, "test": TEST, "val": TEST, "valid": TEST, "validation": TEST}
    if TEST in words:
        called |= {"val": TRAIN, "valid": TRAIN, "validation": TRAIN}
    for word in words:
        if word is None or word.lower() not in called:
            raise ValueError(f"the split in {place} must be train or test for every sample, got {word!r}")
    return tuple(called[word.lower()] for word in words if word is not None)


def _view_name(name: str) -> str:
    plain = re.sub(r"->|[.:/]", "_", normal_name(name).strip())
    if not plain:
        raise ValueError("a view needs a name, got an empty one")
    # Encoders are attributes of a module: a view cannot be called 'type' or 'keys'.
    return f"{plain}_view" if hasattr(nn.ModuleDict(), plain) else plain


def _first(samples: Sequence[str], have: Bool[np.ndarray, "N"]) -> str:
    return samples[int(have.argmax())]


def _in_order(words: set[str]) -> tuple[str, ...]:
    """Numbers by size, words by the alphabet."""
    try:
        return tuple(sorted(words, key=float))
    except ValueError:
        return tuple(sorted(words))
