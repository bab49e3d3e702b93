"""`coview flow`: clips of a folder -> packed clips with their optical flow."""

import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from coview.data.video import clips_below
from coview.data.video.extract import Done, Extraction, extract, left_to_do
from coview.data.video.layouts import TABLE
from coview.data.video.size import parse_size
from coview.flow import FAST, TVL1
from coview.names import did_you_mean
from coview.recipes.measure import fastest_device

WAYS = {"opencv": TVL1(), "fast": FAST, "none": None}
NAMED = 10  # broken clips that are named


@dataclass(frozen=True)
class Wanted:
    """What the command line asks for."""

    clips: Path
    out: Path
    size: str = "128x171"
    rate: float | None = None
    way: str = "opencv"
    lossy: bool = False
    compile: bool = False
    pairs: int = 64
    workers: int = 4


def run_flow(wanted: Wanted, console: Console) -> int:
    """Pack what is not packed yet; 1 where no clip could be."""
    how = _how(wanted)
    clips = clips_below(wanted.clips)
    if not clips:
        raise FileNotFoundError(f"no clips below {wanted.clips}: wanted are videos, or folders of frames")
    left = left_to_do(clips, wanted.out, how)
    _copy_table(wanted.clips, wanted.out)
    there = f"; {len(clips) - len(left):,} are there already" if len(left) < len(clips) else ""
    console.print(
        Text(f"{len(left):,} of {len(clips):,} clips to do, on {fastest_device()}{there}", style="dim")
    )
    begun = time.perf_counter()
    done = _all(clips, wanted.out, how, len(left), console)
    faults = [one for one in done if one.fault]
    frames = sum(one.frames for one in done)
    rate = frames / max(time.perf_counter() - begun, 1e-9)
    console.print(Text(f"{frames:,} frames in {wanted.out}, {rate:,.0f} a second"), soft_wrap=True)
    if faults:
        console.print(Text(f"{len(faults):,} clips are broken and left out:"))
        for one in faults[:NAMED]:
            console.print(Text(f"  {one.fault}"), soft_wrap=True)
        if len(faults) > NAMED:
            console.print(Text(f"  and {len(faults) - NAMED:,} more"))
    return 1 if faults and len(faults) == len(clips) else 0


def _how(wanted: Wanted) -> Extraction:
    if wanted.way not in WAYS:
        raise ValueError(
            f"--tvl1 is one of {', '.join(WAYS)}, got '{wanted.way}'{did_you_mean(wanted.way, WAYS)}"
        )
    flow = WAYS[wanted.way]
    return Extraction(
        size=parse_size(wanted.size),
        rate=wanted.rate,
        flow=None if flow is None else replace(flow, compile=wanted.compile),
        lossless=not wanted.lossy,
        pairs=wanted.pairs,
        workers=wanted.workers,
    )


def _copy_table(clips: Path, out: Path) -> None:
    """The list of videos and splits belongs to the packs too."""
    if (clips / TABLE).is_file() and not (out / TABLE).exists():
        shutil.copyfile(clips / TABLE, out / TABLE)


def _all(clips, out: Path, how: Extraction, count: int, console: Console) -> list[Done]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    done: list[Done] = []
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("Flow", total=count)
        for one in extract(clips, out, how, fastest_device()):
            done.append(one)
            progress.update(task, advance=1, description=one.name[-40:])
    return done
