"""Cross-view retrieval: a sample in one view looks for its nearest in another."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from coview.data import Resident
from coview.data.own.load import decode_view
from coview.data.own.readers import SUPPORTED
from coview.names import did_you_mean
from coview.probes.retrieval import closest
from coview.recipes.measure import fastest_device
from coview.trained.embed import Embedded, embed
from coview.trained.model import Model, lacking

LINKS = 32  # of faiss' graph, for each sample


@dataclass(frozen=True)
class Hit:
    """A sample that was found, and how near it is."""

    sample: str
    cosine: float
    label: str | None = None


def search(
    query: Float[Tensor, "D"], collection: Embedded, target: str, *, count: int = 10, faiss: bool = False
) -> list[Hit]:
    """The nearest samples by their embedding in the target view: exactly, or by faiss' graph in large collections."""
    if target not in collection.views:
        raise ValueError(
            f"nothing was embedded in view '{target}'{did_you_mean(target, collection.views)}; "
            f"there are {', '.join(collection.views)}"
        )
    rows = collection.present[target].nonzero().squeeze(1)
    if not len(rows):
        raise ValueError(f"no sample has view '{target}'")
    keys = collection.views[target][rows]
    find = _by_graph if faiss else _exactly
    cosines, places = find(query[None], keys, min(count, len(rows)))
    numbers = rows[places[0]].tolist()
    labels = collection.label or (None,) * len(collection.samples)
    return [
        Hit(collection.samples[n], c, labels[n]) for n, c in zip(numbers, cosines[0].tolist(), strict=True)
    ]


def encode_file(model: Model, file: Path, view: str) -> Float[Tensor, "D"]:
    """The embedding of one file, seen as one view."""
    model.check_view(view)
    if not file.is_file():
        raise FileNotFoundError(f"no file {file}")
    name = source_of(model, view)
    channels = (model.files.get("channels") or {}).get(name)
    try:
        values = decode_view(file.read_bytes(), side=model.files.get("side"), channels=channels)
    except (ValueError, OSError) as error:
        known = " ".join(SUPPORTED)
        raise ValueError(
            f"{file} cannot be read as view '{view}' ({error}); types that can: {known}"
        ) from error
    return embed(model, Resident("query", {name: values[None]}), ("query",), views=[view]).views[view][0]


def source_of(model: Model, view: str) -> str:
    """The one field that a view is cut from."""
    asked = lacking(model.views[view], {})
    if len(asked) != 1:
        raise ValueError(
            f"view '{view}' is not cut from one field alone: name a sample of the data instead of a file"
        )
    return next(iter(asked))


def encoded_sample(collection: Embedded, name: str, view: str) -> Float[Tensor, "D"]:
    """The embedding of a sample of the collection."""
    if name not in collection.samples:
        raise ValueError(f"'{name}' is neither a file nor a sample{did_you_mean(name, collection.samples)}")
    number = collection.samples.index(name)
    if view not in collection.views or not collection.present[view][number]:
        raise ValueError(f"sample '{name}' has no view '{view}'")
    return collection.views[view][number]


def _exactly(query: Tensor, keys: Tensor, count: int) -> tuple[Float[Tensor, "Q K"], Int[Tensor, "Q K"]]:
    device = fastest_device()
    cosines, places = closest(query.to(device), keys.to(device), count)
    return cosines.cpu(), places.cpu()


def _by_graph(query: Tensor, keys: Tensor, count: int) -> tuple[Float[Tensor, "Q K"], Int[Tensor, "Q K"]]:
    index = graph_index(keys)
    cosines, places = index.search(F.normalize(query.float(), dim=1).numpy(), count)
    return torch.from_numpy(cosines), torch.from_numpy(places)


def graph_index(keys: Float[Tensor, "N D"]) -> Any:
    """A navigable graph over unit vectors: nearly exact, and as quick among millions."""
    try:
        import faiss
    except ImportError as error:
        raise ModuleNotFoundError("--faiss needs faiss: pip install 'coview[faiss]'") from error
    index = faiss.IndexHNSWFlat(keys.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efSearch = 128
    index.add(F.normalize(keys.float(), dim=1).numpy())
    return index
