"""A part of a dataset held out to choose by: a share of every class, the same for the same seed."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from coview.data.dataset import Dataset


def held_out(dataset: Dataset, *, share: float = 0.1, seed: int = 0) -> tuple[Any, Any]:
    """The dataset without the held-out part, and that part; of a set without labels a share of all samples."""
    label = torch.zeros(len(dataset), dtype=torch.int64) if dataset.label is None else dataset.label.cpu()
    part = held_out_part(label, share=share, seed=seed)
    return dataset.subset((~part).nonzero().flatten()), dataset.subset(part.nonzero().flatten())


def within_train(split: str, *, data: Callable[[str], Dataset], share: float = 0.1, seed: int = 0) -> Dataset:
    """In place of a recipe's `data`, to choose its numbers by: "test" is a held-out part of the training set."""
    if split not in ("train", "test"):
        raise ValueError(f"a training set is cut into train and test, got '{split}'")
    return held_out(data("train"), share=share, seed=seed)[split == "test"]


def held_out_part(label: Int[Tensor, "N"], *, share: float = 0.2, seed: int) -> Bool[Tensor, "N"]:
    """A share of each class, at least one sample of a class with two or more; the same on every device."""
    if not 0 < share < 1:
        raise ValueError(f"the share to hold out must lie between 0 and 1, got {share:g}")
    part = torch.zeros(len(label), dtype=torch.bool)
    shuffled = torch.randperm(len(label), generator=torch.Generator().manual_seed(seed))
    known = label.cpu()[shuffled]
    for wanted in known.unique():
        members = shuffled[known == wanted]
        part[members[: max(round(len(members) * share), int(len(members) > 1))]] = True
    if not part.any():
        raise ValueError(
            "every class has one sample, none can be held out: add some (to a probe, give a single weight decay)"
        )
    return part.to(label.device)
