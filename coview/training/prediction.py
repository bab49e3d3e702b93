"""Prediction in place of contrast, as a part of a recipe: `objective=partial(prediction, loss="l1")`."""

from collections.abc import Callable, Mapping
from functools import partial

from torch import Tensor, nn

from coview.data import Dataset
from coview.predictive import Decoder, Distance, Prediction, Quantised, ab_bins, even_bins
from coview.predictive.objective import shrunk
from coview.training.recipe import Recipe
from coview.training.state import first_views
from coview.types import view_of

Bins = Callable[[], Tensor]


def prediction(
    recipe: Recipe,
    data: Dataset,
    dim: int,
    *,
    loss: str = "l2",
    side: int = 16,
    decoder: Callable[..., nn.Module] = partial(Decoder, width=128),
    bins: Mapping[str, Bins] | None = None,
) -> Prediction:
    """Each pair's target as a map of side x side, predicted from the anchor: "l1", "l2", or its "quantised" classes.

    `bins` gives the centres by view; else one channel has 100 of them, two have a grid of 16 x 16, and of more
    each has 100.
    """
    if loss not in ("l1", "l2", "quantised"):
        raise ValueError(f"the loss of a prediction is 'l1', 'l2' or 'quantised', got '{loss}'")
    views = first_views(data, recipe)
    channels = {name: shrunk(views[name], 1, 1).shape[1] for name in recipe.graph.views}
    losses = {name: _loss(loss, count, (bins or {}).get(name)) for name, count in channels.items()}
    decoders = {}
    for pair in recipe.graph.directed():
        target = view_of(pair.target)
        outputs = losses[target].outputs(channels[target])
        decoders[pair.name] = decoder(dim, outputs, side=1 if views[target].ndim == 2 else side)
    return Prediction(recipe.graph, decoders, losses)


split_brain = partial(
    prediction,
    loss="quantised",
    side=16,
    decoder=partial(Decoder, width=128),
    bins={"ab": partial(ab_bins, step=10.0)},
)
"""Split-Brain (Zhang et al. 2017): L in 100 bins from ab, and the bins of ab from L."""


def _loss(kind: str, channels: int, bins: Bins | None) -> Distance | Quantised:
    if kind != "quantised":
        return Distance(kind)
    if bins is not None:
        return Quantised(bins())
    return Quantised(even_bins(2, 16) if channels == 2 else even_bins(1, 100))
