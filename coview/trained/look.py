"""Samples of a run to look at: their pictures, their places on a map, and whom each finds in every other view."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from coview.data import Resident
from coview.reports.pictures import to_images
from coview.reports.widgets import Samples, Thumbnails
from coview.trained.embed import Embedded, embed
from coview.trained.model import Model, open_model
from coview.types import Batch, Sample
from coview.views import cut, stand_still

NEAREST = 7  # shown for each sample and view
GREY = ("L", "Y")  # views of brightness


def look(folder: Path, samples: int) -> Samples:
    """So many samples that were not trained on, as the run's encoders see them."""
    model = open_model(folder)
    names, sample, classes = _some(model, samples)
    data = Resident("samples", sample.fields, sample.label, classes, dict(sample.present or {}))
    found = embed(model, data, names)
    views = cut(stand_still(sample, model.still), {name: model.views[name] for name in found.views})
    near, cosine, rank = _neighbours(found)
    return Samples(
        names=names,
        present={name: have.numpy() for name, have in found.present.items()},
        thumbnails={name: _thumbnails(views, name, found.present[name]) for name in found.views},
        maps=_maps(found),
        near=near,
        cosine=cosine,
        rank=rank,
        label=found.label,
    )


def _some(model: Model, count: int) -> tuple[tuple[str, ...], Sample, tuple[str, ...]]:
    """Samples spread over those to test on."""
    if model.place is not None:
        names, data = model.read(model.place, "test")
    elif model.data is not None:
        data = model.data("test")
        names = tuple(f"sample {number}" for number in range(len(data)))
    else:
        raise ValueError(f"{model.name} was exported without data")
    rows = torch.from_numpy(np.unique(np.linspace(0, len(data) - 1, min(count, len(data))).astype(int)))
    sample = data.fetch(rows)
    return tuple(names[int(row)] for row in sample.index), sample, tuple(data.classes)


def _thumbnails(views: Batch, name: str, have: Bool[Tensor, "N"]) -> Thumbnails:
    """The pictures of a view, scaled over those that are there."""
    images = iter(to_images(views.views[name].cpu()[have], grey=name in GREY)) if have.any() else iter(())
    return Thumbnails.of([next(images) if there else None for there in have.tolist()])


def _neighbours(found: Embedded) -> tuple[dict, dict, dict]:
    """For each ordered pair of views and each sample: the nearest, how near, and the place of the sample itself."""
    units = {name: F.normalize(one, dim=1) for name, one in found.views.items()}
    near: dict = {name: {} for name in units}
    cosine: dict = {name: {} for name in units}
    rank: dict = {name: {} for name in units}
    for anchor, one in units.items():
        for target, other in units.items():
            if anchor == target:
                continue
            scores = one @ other.T
            scores[:, ~found.present[target]] = -2.0  # below any cosine
            best, places = scores.topk(min(NEAREST, int(found.present[target].sum())), dim=1)
            both = found.present[anchor] & found.present[target]
            own = (scores >= scores.diagonal()[:, None]).sum(1)
            near[anchor][target], cosine[anchor][target] = places.numpy(), best.numpy()
            rank[anchor][target] = torch.where(both, own, 0).numpy()
    return near, cosine, rank


def _maps(found: Embedded) -> dict[str, dict[str, Float[np.ndarray, "N 2"]]]:
    """Places in the plane for the embeddings of all views together; those that are missing lie at 0."""
    units = {name: F.normalize(one, dim=1)[found.present[name]].numpy() for name, one in found.views.items()}
    points = np.concatenate(list(units.values()))
    plans = {"PCA": _principal(points)}
    if find_spec("sklearn") is not None and len(points) > 10:
        plans = {"t-SNE": _by_neighbourhood(points), **plans}
    ends = np.cumsum([len(one) for one in units.values()])
    cuts = {name: slice(end - len(one), end) for (name, one), end in zip(units.items(), ends, strict=True)}
    return {
        kind: {name: _placed(plan[cuts[name]], found.present[name]) for name in units}
        for kind, plan in plans.items()
    }


def _principal(points: Float[np.ndarray, "P D"]) -> Float[np.ndarray, "P 2"]:
    """The two directions in which they vary most."""
    centred = points - points.mean(0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    return centred @ directions[:2].T


def _by_neighbourhood(points: Float[np.ndarray, "P D"]) -> Float[np.ndarray, "P 2"]:
    from sklearn.manifold import TSNE

    return TSNE(init="pca", perplexity=min(30, (len(points) - 1) / 3), random_state=0).fit_transform(points)


def _placed(places: Float[np.ndarray, "P 2"], have: Bool[Tensor, "N"]) -> Float[np.ndarray, "N 2"]:
    whole = np.zeros((len(have), 2))
    whole[have.numpy()] = places
    return whole
