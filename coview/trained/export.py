"""Trained encoders as a folder for others: weights, programs that need nothing of this package, and a card."""

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coview.data import Dataset
from coview.encoders.load import CONFIG, FORMAT, WEIGHTS
from coview.files import write_text, write_whole
from coview.probes.features import mode
from coview.trained.card import card
from coview.trained.model import Model, fields_of
from coview.types import Fields, View
from coview.views import stand_still

EXAMPLES = 4  # samples that programs are traced and compared on
TOLERANCE = 1e-4


class Program(nn.Module):
    """Fields as they are stored -> the embedding of one view: the view is cut inside."""

    def __init__(self, view: View, encoder: nn.Module, fields: list[str]) -> None:
        super().__init__()
        self.view, self.encoder, self.fields = view, encoder, fields

    def forward(self, *fields: Tensor) -> Tensor:
        return self.encoder(self.view(dict(zip(self.fields, fields, strict=True))))


@dataclass(frozen=True)
class Written:
    """What was written of one view, and how far the ONNX runtime is from PyTorch."""

    view: str
    inputs: dict[str, str]  # field -> type and shape
    size: int  # of the embedding
    files: tuple[str, ...]
    difference: float | None = None
    hindrance: str = ""  # why there is no ONNX program


def export(
    model: Model, out: Path, *, onnx: bool = True, results: str = "", examples: Fields | None = None
) -> list[Written]:
    """Write `config.json`, `model.safetensors`, a program (.pt2, .onnx) for each view, and `README.md`.

    Programs are traced on examples: some of the samples that were trained on, where none are given.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FileExistsError(f"{out} is not empty: name another folder with --out")
    save = safetensors()
    if onnx and (
        lacking := [name for name in ("onnx", "onnxscript", "onnxruntime") if find_spec(name) is None]
    ):
        raise ModuleNotFoundError(
            f"ONNX needs {', '.join(lacking)}: pip install 'coview[export]', or say --no-onnx"
        )
    out.mkdir(parents=True, exist_ok=True)
    model.encoders.cpu()
    fields = _examples(model) if examples is None else examples
    cut_from = fields_of(model.views, fields)
    with mode(model.encoders.values(), training=False):
        written = [
            _programs(model, name, sorted(cut_from[name]), fields, out, onnx) for name in model.encoders
        ]
    state = {name: value.contiguous() for name, value in model.encoders.state_dict().items()}
    write_whole(out / WEIGHTS, lambda file: file.write(save(state, {"format": "pt"})))
    config = {"format": FORMAT, "name": model.name, **model.record, "files": model.files}
    write_text(out / CONFIG, json.dumps(config, indent=2, ensure_ascii=False) + "\n")
    write_text(out / "README.md", card(model, written, results))
    return written


def safetensors() -> Callable[..., bytes]:
    """What makes the bytes of a safetensors file."""
    try:
        from safetensors.torch import save
    except ImportError as error:
        raise ModuleNotFoundError("export needs safetensors: pip install 'coview[export]'") from error
    return save


def _examples(model: Model) -> Fields:
    """A few samples as they are stored; what is missing is made up, for programs are traced with every view."""
    data: Dataset = model.few(EXAMPLES)
    sample = stand_still(data.fetch(torch.arange(min(EXAMPLES, len(data)))), model.still)
    return {name: torch.nan_to_num(values).cpu() for name, values in sample.fields.items()}


def _programs(model: Model, name: str, fields: list[str], examples: Fields, out: Path, onnx: bool) -> Written:
    program = Program(model.views[name], model.encoders[name], fields).eval()
    inputs = tuple(examples[one] for one in fields)
    with torch.no_grad():
        wanted = program(*inputs)
    batch = torch.export.Dim("batch", min=1)
    shapes = (tuple({0: batch} for _ in inputs),)
    files = [f"{name}.pt2"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tracing, about what the program does not use
        traced = torch.export.export(program, inputs, dynamic_shapes=shapes)
        torch.export.save(traced, out / files[0])
    forms = {one: _form(examples[one]) for one in fields}
    if not onnx:
        return Written(name, forms, wanted.shape[1], tuple(files))
    try:
        difference = _onnx(program, inputs, fields, wanted, out / f"{name}.onnx", shapes)
    except Exception as error:  # of the exporter, which does not know every operation
        reason = next(
            (line for line in reversed(str(error).splitlines()) if line.strip()), type(error).__name__
        )
        return Written(name, forms, wanted.shape[1], tuple(files), hindrance=reason.strip())
    return Written(name, forms, wanted.shape[1], (*files, f"{name}.onnx"), difference)


def _onnx(
    program: nn.Module, inputs: tuple[Tensor, ...], names: list[str], wanted: Tensor, file: Path, shapes: Any
) -> float:
    """Write an ONNX program, run it, and say how far its numbers are from PyTorch's."""
    import onnxruntime

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            program,
            inputs,
            str(file),
            dynamo=True,
            dynamic_shapes=shapes,
            input_names=names,
            output_names=["embedding"],
            external_data=False,
            verbose=False,
        )
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    asked = {name: values.numpy() for name, values in zip(names, inputs, strict=True)}
    found = torch.as_tensor(session.run(None, asked)[0])
    difference = float((found - wanted).abs().max())
    if difference > TOLERANCE * max(float(wanted.abs().max()), 1.0):
        raise RuntimeError(
            f"{file} gives other numbers than PyTorch, by {difference:.2g}: it should not be used"
        )
    return difference


def _form(values: Tensor) -> str:
    shape = " ".join(["B", *map(str, values.shape[1:])])
    return f"{str(values.dtype).removeprefix('torch.')} [{shape}]"
