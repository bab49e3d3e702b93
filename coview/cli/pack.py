"""`coview pack`: datasets into shards, split by split."""

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from coview.data import Dataset
from coview.data.shards import pack


def pack_data(
    data: Callable[[str], Dataset],
    out: Path,
    splits: Sequence[str],
    console: Console,
    *,
    megabytes: float,
    shuffle: bool,
) -> None:
    """Write each split into a folder of its own, with a bar where there is a terminal."""
    for split in splits:
        dataset, folder = data(split), out / split
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task(f"Packing {dataset.name}", total=len(dataset))
            index = pack(
                dataset,
                folder,
                megabytes=megabytes,
                shuffle=shuffle,
                observe=lambda done, total, task=task: progress.update(task, completed=done, total=total),
            )
        size = sum(path.stat().st_size for path in folder.iterdir())
        line = f"{folder}: {len(index):,} samples in {len(index.counts):,} shards, {size / 1e6:,.1f} MB"
        left_out = len(dataset) - len(index)
        console.print(
            Text(line + (f"; {left_out:,} broken ones left out" if left_out else "")), soft_wrap=True
        )
