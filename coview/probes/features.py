"""What frozen encoders say of a dataset, at named layers: the input of every probe."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from coview.probes.layers import NUMBERS, all_features, mode
from coview.types import Batch

Encoders = Mapping[str, nn.Module] | nn.ModuleDict
"""One encoder per view, by name."""


@dataclass(frozen=True)
class Features:
    """What frozen encoders say of N samples, by view; zeros where a sample does not have the view."""

    values: dict[str, Float[Tensor, "N _"]]
    present: dict[str, Bool[Tensor, "N"]]
    index: Int[Tensor, "N"]
    label: Int[Tensor, "N"] | None = None


def extract(encoders: Encoders, batches: Iterable[Batch], layer: str, *, numbers: int = NUMBERS) -> Features:
    """Run frozen encoders over batches; maps are pooled so that all views together keep at most `numbers`."""
    return extract_layers(encoders, batches, [layer], numbers=numbers)[layer]


def extract_layers(
    encoders: Encoders,
    batches: Iterable[Batch],
    layers: Sequence[str],
    *,
    numbers: int = NUMBERS,
    keep: torch.dtype = torch.float32,
) -> dict[str, Features]:
    """The features of several layers from one pass over the batches, each as `extract` gives it.

    They are pooled on the fly and kept as `keep`: N samples take at most N * numbers * 4 bytes a layer in
    float32, and half of that in float16; but vectors stay whole.
    """
    said: dict[str, dict[str, list[Tensor]]] = {layer: {name: [] for name in encoders} for layer in layers}
    there: dict[str, list[Tensor]] = {name: [] for name in encoders}
    index: list[Tensor] = []
    label: list[Tensor | None] = []
    with mode(encoders.values(), training=False), torch.no_grad():
        for batch in batches:
            for name, encoder in encoders.items():
                view, rows = view_there(batch, name)
                there[name].append(rows)
                if len(view):
                    found = all_features(encoder, view, layers, numbers=share(numbers, encoders))
                    for layer, values in found.items():
                        said[layer][name].append(values.to(keep))
            index.append(batch.index)
            label.append(batch.label)
    if not encoders or not index or not layers:
        raise ValueError(
            f"nothing to extract: got {len(encoders)} encoders, {len(layers)} layers and {len(index)} batches"
        )
    present = {name: torch.cat(rows) for name, rows in there.items()}
    values = {
        layer: {name: _filled(name, layer, said[layer].pop(name), present[name]) for name in encoders}
        for layer in layers
    }
    known = _joined(label)
    return {layer: Features(values[layer], present, torch.cat(index), known) for layer in layers}


def share(numbers: int, encoders: Encoders) -> int:
    """How many of the numbers are those of one view: the paper counts both halves together."""
    return numbers // max(len(encoders), 1)


def concatenate(features: Features, views: Sequence[str]) -> tuple[Float[Tensor, "S F"], Int[Tensor, "S"]]:
    """Several views side by side, with labels; samples that have none of the views, or no label, are left out."""
    strange = [name for name in views if name not in features.values]
    if strange or not views:
        raise ValueError(f"wanted some of the views {list(features.values)}, got {list(views)}")
    if features.label is None:
        raise ValueError(
            "a probe needs labels, and these features have none: extract them from labelled batches"
        )
    some = torch.stack([features.present[name] for name in views]).any(0) & (features.label >= 0)
    parts, label = [features.values[name] for name in views], features.label
    if not some.all():
        parts, label = [values[some] for values in parts], label[some]
    return (torch.cat(parts, 1) if len(parts) > 1 else parts[0]), label


def view_there(batch: Batch, name: str) -> tuple[Float[Tensor, "P ..."], Bool[Tensor, "B"]]:
    """The rows of a view that are there, and which samples of the batch they belong to."""
    if name not in batch.views:
        raise ValueError(f"wanted the view '{name}', but the batch has {list(batch.views)}")
    view = batch.views[name]
    rows = (batch.present or {}).get(name)
    if rows is None:
        return view, torch.ones(len(view), dtype=torch.bool, device=view.device)
    return view[rows], rows


def _filled(name: str, layer: str, said: list[Tensor], present: Bool[Tensor, "N"]) -> Float[Tensor, "N F"]:
    """The features of a view in the rows that have it, zeros elsewhere."""
    if not said:
        raise ValueError(
            f"view '{name}' is there for none of the {len(present)} samples: leave its encoder out"
        )
    broken = int(torch.stack([(~values.isfinite()).any(1).sum() for values in said]).sum())
    there = torch.cat(said)
    if broken:
        small = there.dtype == torch.float16
        limit = f" (or beyond the {torch.finfo(there.dtype).max:,.0f} of float16)" if small else ""
        raise ValueError(
            f"view '{name}': layer '{layer}' is NaN or infinite{limit} in {broken} of {len(there)} samples; "
            "look at the encoder's weights and at the view's values"
        )
    if len(there) == len(present):
        return there
    values = there.new_zeros(len(present), there.shape[1])
    values[present] = there
    return values


def _joined(label: list[Tensor | None]) -> Tensor | None:
    """The labels of all batches, or None where no batch has any."""
    known = [part for part in label if part is not None]
    if known and len(known) < len(label):
        raise ValueError(
            f"{len(known)} of {len(label)} batches have labels: give all of them labels, or none"
        )
    return torch.cat(known) if known else None
