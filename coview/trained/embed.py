"""What trained encoders say of samples: an embedding for each view that is there, and one for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from coview.data import Dataset
from coview.data.npy import read_npz
from coview.files import write_whole
from coview.probes import Features, extract
from coview.recipes.measure import fastest_device
from coview.trained.model import Model, fields_of
from coview.types import Batch, Sample
from coview.views import cut, stand_still

FILES = (".parquet", ".npz")
BATCH = 250


@dataclass(frozen=True)
class Embedded:
    """N samples by name, and by view what the encoders say of them; zeros where a view is missing."""

    samples: tuple[str, ...]
    views: dict[str, Float[Tensor, "N _"]]
    present: dict[str, Bool[Tensor, "N"]]
    label: tuple[str | None, ...] | None = None

    @property
    def fused(self) -> Float[Tensor, "N D"] | None:
        """The mean direction of the views that a sample has; None where views have features of different sizes."""
        if len({values.shape[1] for values in self.views.values()}) > 1:
            return None
        units = [F.normalize(one, dim=1) * self.present[name][:, None] for name, one in self.views.items()]
        return F.normalize(torch.stack(units).sum(0), dim=1)


def embed(
    model: Model,
    data: Dataset,
    samples: tuple[str, ...],
    *,
    layer: str = "embedding",
    views: Sequence[str] = (),
) -> Embedded:
    """Encode every sample in the views that it has, among those that are wanted."""
    device = fastest_device()
    data = data.to(device)
    there = fields_of(model.views, next(iter(data.batches(2))).fields)
    chosen = _chosen(model, there, views)
    encoders = nn.ModuleDict({name: model.encoders[name] for name in chosen}).to(device)
    batches = (_cut(model, sample, there, chosen) for sample in data.batches(BATCH))
    found = extract(encoders, batches, layer)
    return _named(found, samples, data.classes)


def _chosen(model: Model, there: dict[str, set[str]], wanted: Sequence[str]) -> list[str]:
    for name in wanted:
        model.check_view(name)
        if name not in there:
            raise ValueError(f"the data has nothing that view '{name}' is cut from")
    chosen = [name for name in (wanted or model.encoders) if name in there]
    if not chosen:
        raise ValueError(f"the data has none of the views of {model.name}: {', '.join(model.encoders)}")
    return chosen


def _cut(model: Model, sample: Sample, there: dict[str, set[str]], chosen: Sequence[str]) -> Batch:
    """Views of a batch; where fields are missing for some samples, so are the views that are cut from them."""
    known = sample.present or {}
    present = dict(known)
    for view in chosen:
        masks = [known[name] for name in there[view] if name in known]
        if masks:
            present[view] = torch.stack(masks).all(0)
    sample = Sample(sample.fields, sample.index, present or None, sample.label)
    return cut(stand_still(sample, model.still), {name: model.views[name] for name in chosen})


def _named(found: Features, samples: tuple[str, ...], classes: tuple[str, ...]) -> Embedded:
    index = found.index.cpu().tolist()
    label = None
    if found.label is not None:
        numbers = found.label.cpu().tolist()
        label = tuple(None if n < 0 else (classes[n] if classes else str(n)) for n in numbers)
    views = {name: values.cpu() for name, values in found.values.items()}
    present = {name: have.cpu() for name, have in found.present.items()}
    return Embedded(tuple(samples[number] for number in index), views, present, label)


def save_embedded(found: Embedded, file: Path) -> None:
    """As a table, `.parquet`, or as arrays, `.npz`; what is missing is null or NaN."""
    check_file(file)
    if file.suffix == ".parquet":
        _save_parquet(found, file)
        return
    arrays: dict[str, Any] = {"sample": np.array(found.samples)}
    if found.label is not None:
        arrays["label"] = np.array([word or "" for word in found.label])
    if found.fused is not None:
        arrays["fused"] = found.fused.numpy()
    for name, values in found.views.items():
        arrays[f"embedding.{name}"] = torch.where(found.present[name][:, None], values, torch.nan).numpy()
    write_whole(file, lambda opened: np.savez(opened, **arrays))


def check_file(file: Path) -> None:
    """Refuse a file whose ending says nothing, before anything is computed."""
    if file.suffix not in FILES:
        raise ValueError(f"embeddings are written as {' or '.join(FILES)}, got {file.name}")


def load_embedded(file: Path) -> Embedded:
    """What `save_embedded` wrote."""
    check_file(file)
    if not file.is_file():
        raise FileNotFoundError(f"no file {file}")
    columns = _load_parquet(file) if file.suffix == ".parquet" else read_npz(file)
    names = [name.removeprefix("embedding.") for name in columns if name.startswith("embedding.")]
    if "sample" not in columns or not names:
        raise ValueError(
            f"{file} holds no embeddings: wanted a column 'sample', and one 'embedding.VIEW' or more"
        )
    rows = {name: columns[f"embedding.{name}"] for name in names}
    for name, one in rows.items():
        if one.ndim != 2 or one.dtype.kind != "f" or len(one) != len(columns["sample"]):
            raise ValueError(f"{file}: wanted a row of numbers for each sample as 'embedding.{name}'")
    values = {name: torch.from_numpy(one) for name, one in rows.items()}
    present = {name: ~one.isnan().any(1) for name, one in values.items()}
    views = {name: one.nan_to_num() for name, one in values.items()}
    label = tuple(str(word) or None for word in columns["label"]) if "label" in columns else None
    return Embedded(tuple(map(str, columns["sample"])), views, present, label)


def _pyarrow() -> Any:
    try:
        import pyarrow
        from pyarrow import parquet  # noqa: F401
    except ImportError as error:
        raise ModuleNotFoundError(
            "Parquet needs pyarrow: pip install 'coview[own]', or name a .npz"
        ) from error
    return pyarrow


def _save_parquet(found: Embedded, file: Path) -> None:
    arrow = _pyarrow()
    columns = {"sample": arrow.array(found.samples)}
    if found.label is not None:
        columns["label"] = arrow.array(found.label, arrow.string())
    if found.fused is not None:
        columns["fused"] = _lists(arrow, found.fused, torch.ones(len(found.samples), dtype=torch.bool))
    for name, values in found.views.items():
        columns[f"embedding.{name}"] = _lists(arrow, values, found.present[name])
    write_whole(file, lambda opened: arrow.parquet.write_table(arrow.table(columns), opened))


def _lists(arrow: Any, values: Tensor, present: Tensor) -> Any:
    flat = arrow.array(values.float().numpy().reshape(-1))
    mask = arrow.array(~present.numpy())
    return arrow.FixedSizeListArray.from_arrays(flat, values.shape[1], mask=mask)


def _load_parquet(file: Path) -> dict[str, np.ndarray]:
    arrow = _pyarrow()
    try:
        table = arrow.parquet.read_table(file)
    except Exception as error:  # of arrow, for bytes that are no Parquet
        raise ValueError(f"{file} cannot be read as Parquet: {error}") from error
    columns: dict[str, np.ndarray] = {}
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        if not arrow.types.is_fixed_size_list(column.type):
            columns[name] = np.array([value or "" for value in column.to_pylist()])
            continue
        width = column.type.list_size
        rows = [[np.nan] * width if row is None else row for row in column.to_pylist()]
        columns[name] = np.array(rows, dtype=np.float32).reshape(-1, width)
    return columns
