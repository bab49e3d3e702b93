"""What each process does in test_processes.py: trainings, and what it holds after them."""

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import nn
from toys import SIZES, tables, toy

from coview.contrast import Bank, BilinearCritic, NCELoss, ShardedBank
from coview.data import Resident, packed
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
        epochs=2,
        batch_size=12,
    )


def lopsided(split: str) -> Resident:
    """In the second batch of 12 the second of two processes meets no smell, in the third the first no sound."""
    data = tables(split)
    present = {name: torch.ones(len(data), dtype=torch.bool) for name in ("smell", "sound")}
    _, second, third, *_ = epoch_order(len(data), 12, 0, 0)
    present["smell"][second[1::2]] = False
    present["sound"][third[::2]] = False
    return replace(data, present=present)


def drawn() -> Recipe:
    """Everything random: augmentation, draws from memory; and batch norms of a process's own."""
    return replace(toy(), epochs=2)


def synchronised() -> Recipe:
    """Batch norm over the samples of all processes."""
    return replace(plain(), encoders=toy().encoders, batch_norm="synchronised")


AS_ONE = {  # these learn what one process learns
    "plain": plain,
    "gaps": lambda: replace(
        plain(),
        data=lopsided,
        critic=partial(BilinearCritic, 11),
        optimiser="adamw",
        learning_rate=1e-3,
        clip=1.0,
    ),
    "sharded": lambda: replace(plain(), negatives=ShardedBank),
    "sharded, gaps": lambda: replace(plain(), data=lopsided, negatives=partial(ShardedBank, start="empty")),
    "queue": lambda: replace(plain(), negatives=partial(queue, size=24)),
    "in batch": lambda: replace(plain(), negatives=in_batch),
    "nce": lambda: replace(plain(), loss=partial(NCELoss, normaliser="running")),
    "synchronised": synchronised,
    "synchronised, gaps": lambda: replace(synchronised(), data=lopsided),
}


def slowly() -> Recipe:
    """Keys of slow copies, of another crop, in a queue."""
    return replace(toy(), slow=0.8, crops=2, negatives=partial(queue, size=40), epochs=2)


def from_shards(folder: Path) -> Recipe:
    """Data that comes shard by shard, each process meeting its own."""
    return replace(plain(), data=partial(packed, root=folder / "shards", streams=4))


def held(training: Training) -> dict[str, torch.Tensor]:
    """Everything that was learned or remembered, by name; of a bank in parts, this process's."""
    parts = [part.part() for part in training.objective.modules() if isinstance(part, ShardedBank)]
    shards = {f"part {name}": value for part in parts for name, value in part.items()}
    slow = training.slow.state_dict() if training.slow else {}
    return {**training.encoders.state_dict(), **training.objective.state_dict(), **shards, **slow}


def main(folder: Path) -> None:
    rank = os.environ["RANK"]

    def keep(name: str, training: Training) -> None:
        torch.save(held(training), folder / f"{name}-{rank}.pt")

    for name, make in AS_ONE.items():
        keep(name, fit(make(), folder / name))
    keep("whole", fit(drawn(), folder / "whole"))
    for steps in (1, 8):  # at the first step, and within an epoch
        fit(replace(drawn(), steps=steps), folder / "parts", resume=steps > 1)
        torch.rand(int(rank) + 3)  # whatever else has been drawn must not matter
    keep("parts", fit(drawn(), folder / "parts", resume=True))
    fit(replace(AS_ONE["sharded"](), steps=8), folder / "halves")
    keep("from shards", fit(from_shards(folder), folder / "from shards"))
    often = replace(drawn(), probe_every=1)
    keep("looked", fit(often, folder / "looked", look_in=look_in(often)))
    keep("slow", fit(slowly(), folder / "slow"))
    keep("mixed", fit(replace(slowly(), key_groups=1), folder / "mixed"))
    keep("both", fit(replace(slowly(), slow=None, negatives=in_batch), folder / "both"))
    try:
        fit(replace(toy(), batch_size=15), folder / "odd")
    except ValueError as error:
        (folder / f"odd-{rank}.txt").write_text(str(error))


def go_on(folder: Path) -> None:
    """What two processes began, any number ends."""
    training = fit(AS_ONE["sharded"](), folder / "halves", resume=True)
    torch.save(held(training), folder / f"ended-{os.environ['RANK']}.pt")


def simple(folder: Path) -> None:
    """Some steps, however this was started."""
    training = fit(replace(plain(), steps=5), folder / "simple")
    torch.save(held(training), folder / f"simple-{training.fabric.global_rank}.pt")
    assert training.fabric.world_size == 2
