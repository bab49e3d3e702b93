"""Trainings that are disturbed: what runs in the processes of test_faults.py and test_kills.py."""

import os
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

from toys import SIZES, tables, toy

from coview import files
from coview.cli import main
from coview.contrast import Bank
from coview.training import Recipe, fit

EPOCHS = 60


def slow() -> Recipe:
    """Six steps an epoch with a checkpoint after each, draws of every kind, and a bank that is yet to be filled."""
    return replace(
        toy(),
        data=partial(tables, samples=96, missing=0.3),
        augment=partial(linger, seconds=0.004),
        negatives=partial(Bank, draw=20, start="empty"),
        epochs=EPOCHS,
        log_every=5,
    )


def long() -> Recipe:
    """A run that nobody sees the end of."""
    return replace(slow(), epochs=10_000, augment=partial(linger, seconds=0.02))


def spoiled() -> Recipe:
    """One sample of the third batch, dealt to the second of two processes, is not finite."""
    return replace(long(), data=with_a_fault)


def with_a_fault(split: str):
    from coview.training.loop import epoch_order

    data = tables(split)
    _, _, third, *_ = epoch_order(len(data), 16, 0, 0)
    data.fields["touch"][third[1], 2] = float("nan")
    return data


def linger(fields, generator, *, seconds: float):
    """As the toy's augmentation, but slow enough to be met in the middle of a step."""
    import torch

    time.sleep(seconds)
    return {
        name: values + 0.1 * torch.randn(values.shape, generator=generator) for name, values in fields.items()
    }


def train(folder: Path) -> None:
    """Begin or go on, with a disk so slow that a writing is met half way."""
    sync = os.fsync

    def slowly(file) -> None:
        time.sleep(0.002)
        sync(file)

    files.os.fsync = slowly
    fit(slow(), folder, resume=folder.exists())


def command(*words: str) -> None:
    """`coview` with these words, and its exit code."""
    sys.argv = ["coview", *words]
    main()


assert set(SIZES) == {"sound", "touch", "smell"}
