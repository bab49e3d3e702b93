"""`coview export` and `coview import`: encoders as a folder for others, and those of others as such a folder."""

import json
import shlex
from pathlib import Path

import torch
from rich.console import Console
from rich.text import Text
from torch import nn

from coview.files import write_whole
from coview.reports.tables import Table
from coview.trained import open_model
from coview.trained.atlas import write_atlas
from coview.trained.export import export, safetensors
from coview.trained.look import look
from coview.trained.released import SIDE, read_released

MEMORY = "memory.safetensors"
ATLAS = 2000  # samples on a map


def export_run(run: Path, out: Path, *, onnx: bool, console: Console) -> None:
    """Write the encoders of a run as a folder."""
    written = export(open_model(run), out, onnx=onnx, results=_results(run))
    rows = tuple((one.view, ", ".join(one.files), _difference(one.difference)) for one in written)
    console.print(Table("", ("view", "programs", "ONNX from PyTorch"), rows).rich())
    for one in written:
        if one.hindrance:
            console.print(Text(f"No ONNX of view '{one.view}': {one.hindrance}"), soft_wrap=True)
    line = f"Written: {out}. Read {out / 'README.md'}; share it with:  hf upload NAME {out}"
    console.print(Text(line), soft_wrap=True)


def export_atlas(run: Path, file: Path, console: Console) -> None:
    """Write the map of a run's samples for embedding-atlas."""
    count = write_atlas(look(run, ATLAS), file)
    command = f"embedding-atlas {shlex.quote(str(file))} --x x --y y --neighbors neighbors"
    console.print(Text(f"Written: {file}, {count:,} embeddings. Open it:  {command}"), soft_wrap=True)


def import_file(file: Path, out: Path, *, onnx: bool, console: Console) -> None:
    """Write weights of the released two-view code as such a folder, its memory beside them."""
    found = read_released(file)
    pictures = torch.randint(
        256, (4, 3, SIDE, SIDE), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
    )
    export(found.model, out, onnx=onnx, examples={"rgb": pictures})
    if found.memory:
        save = safetensors()
        write_whole(out / MEMORY, lambda opened: opened.write(save(found.memory, {"format": "pt"})))
    rows = tuple((view, type(one).__name__, _size(one)) for view, one in found.model.encoders.items())
    note = f"after {found.epoch} epochs" if found.epoch is not None else ""
    console.print(Table("", ("view", "encoder", "parameters"), rows, note).rich())
    console.print(Text(f"Written: {out}. Next:  coview embed {out} FOLDER_WITH_rgb"), soft_wrap=True)


def _size(encoder: nn.Module) -> int:
    return sum(one.numel() for one in encoder.parameters())


def _results(run: Path) -> str:
    """The tables of a run's result, as Markdown."""
    file = run / "result.json"
    if not file.is_file():
        return ""
    records = json.loads(file.read_text(encoding="utf-8")).get("tables", {})
    return "\n".join(Table.from_record(record).markdown() for record in records.values())


def _difference(value: float | None) -> str:
    return "" if value is None else f"{value:.1e}"
