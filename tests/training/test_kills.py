"""A training killed thirty times at random moments, also while it writes, ends with what an undisturbed one has."""

import random
import time
from pathlib import Path

import torch
from training import faults
from warm import start

from coview.training.checkpoint import checkpoints, load_checkpoint

KILLS = 30


def kill(folder: Path, luck: random.Random, number: int) -> tuple[bool, bool]:
    """Start or resume, and kill: as soon as it begins, while it trains, or while it writes.

    Whether it was killed, and whether it left a checkpoint that was half written.
    """
    process = start(faults.train, folder, said=folder.with_name(f"said-{number}"))
    deadline = time.monotonic() + 60
    before = {path.name for path in checkpoints(folder / "checkpoints")}

    def moved() -> bool:
        return {path.name for path in checkpoints(folder / "checkpoints")} != before

    moments = {
        0: lambda: True,
        1: moved,
        2: lambda: moved() and any(folder.glob("checkpoints/.*.unfinished")),
    }
    while process.is_alive() and not moments[number % 3]() and time.monotonic() < deadline:
        time.sleep(0.0005)
    if number % 3 < 2:
        time.sleep(luck.uniform(0, 0.15))
    process.kill()
    process.join()
    return process.exitcode == -9, any(folder.glob("checkpoints/.*.unfinished"))


def test_thirty_kills_change_nothing(tmp_path):
    luck = random.Random(0)
    kills = [kill(tmp_path / "killed", luck, number) for number in range(KILLS)]
    killed, half = (sum(each) for each in zip(*kills, strict=True))
    for name in ("killed", "whole"):
        process = start(faults.train, tmp_path / name, said=tmp_path / f"said-{name}")
        process.join(120)
        assert process.exitcode == 0, (tmp_path / f"said-{name}").read_text()
    assert killed == KILLS, "the run is too short: it ended before it was killed"
    assert half >= 3, "hardly a kill met a writing"
    ends = [load_checkpoint(checkpoints(tmp_path / name / "checkpoints")[-1]) for name in ("killed", "whole")]
    assert [end["step"] for end in ends] == [6 * faults.EPOCHS] * 2
    assert_same(*ends)
    assert [row(tmp_path / name) for name in ("killed", "whole")]
    assert not list((tmp_path / "killed").glob("**/.*"))
    print(
        f"{killed} kills, {half} of them while a checkpoint was being written; {ends[0]['step']} steps, all the same"
    )


def row(folder: Path) -> str:
    return (folder / "metrics.jsonl").read_text().splitlines()[-1]


def assert_same(one, other, where: str = "") -> None:
    """Bit for bit, whatever it is made of."""
    assert type(one) is type(other), where
    if isinstance(one, torch.Tensor):
        assert torch.equal(one.nan_to_num(7), other.nan_to_num(7)), where
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for name in one:
            assert_same(one[name], other[name], f"{where} {name}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for number, (first, second) in enumerate(zip(one, other, strict=True)):
            assert_same(first, second, f"{where} {number}")
    else:
        assert one == other, where
