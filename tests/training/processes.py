"""Run under several processes by test_processes.py: trainings, and what each process holds after them."""

import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import nn
from toys import SIZES, tables, toy

from coview.contrast import Bank, BilinearCritic
from coview.data import Resident
from coview.recipes.measure import look_in
from coview.training import Recipe, Training, fit, in_batch, queue
from coview.training.loop import epoch_order


def plain() -> Recipe:
    """No draws and no batch norm: a batch in two parts gives the gradient of the whole, up to rounding."""
    return replace(
        toy(),
        augment=None,
        encoders={name: partial(nn.Linear, size, 11) for name, size in SIZES.items()},
        negatives=partial(Bank, draw="all"),
        probe_layer="embedding",
    )


def lopsided(split: str) -> Resident:
    """In the second batch of 16 the second of two processes meets no smell, in the third the first no sound."""
    data = tables(split)
    present = {name: torch.ones(len(data), dtype=torch.bool) for name in ("smell", "sound")}
    _, second, third, *_ = epoch_order(len(data), 16, 0, 0)
    present["smell"][second[1::2]] = False
    present["sound"][third[::2]] = False
    return replace(data, present=present)


def with_gaps() -> Recipe:
    """Critics that learn, some of which have nothing to learn from on one of the processes."""
    return replace(
        toy(), data=lopsided, critic=partial(BilinearCritic, 11), optimiser="adamw", learning_rate=1e-3
    )


def slowly() -> Recipe:
    """Keys of slow copies, of another crop, in a queue."""
    return replace(toy(), slow=0.8, crops=2, negatives=partial(queue, size=40))


def held(training: Training) -> dict[str, torch.Tensor]:
    """Everything that was learned or remembered, by name."""
    slow = training.slow.state_dict() if training.slow else {}
    return {**training.encoders.state_dict(), **training.objective.state_dict(), **slow}


def main(folder: Path) -> None:
    rank = os.environ["RANK"]

    def keep(name: str, training: Training) -> None:
        torch.save(held(training), folder / f"{name}-{rank}.pt")

    keep("plain", fit(plain(), folder / "plain"))
    keep("whole", fit(toy(), folder / "whole"))
    for steps in (1, 8):  # at the first step, and within an epoch
        fit(replace(toy(), steps=steps), folder / "parts", resume=steps > 1)
        torch.rand(int(rank) + 3)  # whatever else has been drawn must not matter
    keep("parts", fit(toy(), folder / "parts", resume=True))
    keep("gaps", fit(with_gaps(), folder / "gaps"))
    often = replace(toy(), probe_every=1)
    keep("looked", fit(often, folder / "looked", look_in=look_in(often)))
    keep("slow", fit(slowly(), folder / "slow"))
    both = replace(slowly(), slow=None, negatives=in_batch)
    keep("both", fit(both, folder / "both"))
    try:
        fit(replace(toy(), batch_size=15), folder / "odd")
    except ValueError as error:
        (folder / f"odd-{rank}.txt").write_text(str(error))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
