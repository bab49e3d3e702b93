"""All that a run holds while it trains, built from a recipe and its seed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from coview import processes
from coview.contrast import Objective, PairGraph
from coview.data import Dataset
from coview.encoders import Encoders, SameAs, SlowEncoders, synchronise
from coview.encoders.each import Parts, parts
from coview.encoders.slow import settle
from coview.names import did_you_mean
from coview.predictive import Prediction
from coview.training.optim import make_optimiser
from coview.training.recipe import Recipe
from coview.types import Augment, Embeddings, Fields, Views, node_of
from coview.views import cut, look, stand_still


@dataclass
class Training:
    """All that a run holds while it trains."""

    recipe: Recipe
    fabric: Any
    encoders: nn.Module
    objective: Objective | Prediction
    optimiser: torch.optim.Optimizer
    generator: torch.Generator  # draws the augmentation
    look: Callable[
        [Fields], tuple[Views, Tensor]
    ]  # cuts views, and says of which samples they are not finite
    augment: Augment | None = None
    slow: SlowEncoders | None = None  # make the keys, where the recipe says so
    step: int = 0
    hindrance: str | None = None  # why steps were taken one by one and not as a CUDA graph

    @property
    def trained(self) -> Encoders:
        """The encoders without what surrounds them for training."""
        return getattr(self.encoders, "module", self.encoders)  # pyright: ignore[reportReturnType]

    @property
    def parameters(self) -> list[nn.Parameter]:
        return [*self.encoders.parameters(), *self.objective.parameters()]


def prepare(recipe: Recipe, data: Dataset, fabric: Any) -> Training:
    """Build every part of a run from its seed."""
    torch.manual_seed(recipe.seed)
    encoders = build_encoders(recipe)
    tried = try_encoders(encoders, data, recipe)
    check_present(data, recipe)
    objective: Any = recipe.objective(recipe, data, embedding_size(tried, recipe.graph))  # also a user's own
    objective.check(tried)
    if recipe.batch_norm == "synchronised" and fabric.world_size > 1:
        synchronise(encoders, fabric.device)
    encoders, objective = encoders.to(fabric.device), objective.to(fabric.device)
    slow = slow_copies(encoders, data, recipe)
    optimiser = make_optimiser(recipe, [*encoders.parameters(), *objective.parameters()])
    see, augment = partial(look, views=recipe.views), recipe.augment
    if recipe.compile:
        see = torch.compile(see, dynamic=False)
        # What it draws stays outside; pictures of a stream come on canvases of many sizes.
        augment = augment and torch.compile(augment)
        # Encoders of one class are compiled under one limit, and copies and odd batches beside them.
        torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, 8 * len(encoders))
        for encoder in {*encoders.values(), *(slow.copies.values() if slow else ())}:
            encoder.compile(dynamic=None if data.present else False)
    encoders, optimiser = fabric.setup(encoders, optimiser)
    if slow:
        slow.to(next(encoders.parameters()).dtype)  # which the precision may have changed
    generator = torch.Generator(fabric.device).manual_seed(recipe.seed + 1_000_003 * fabric.global_rank)
    torch.manual_seed(recipe.seed + 1_000_003 * fabric.global_rank)  # for draws from memory
    return Training(recipe, fabric, encoders, objective, optimiser, generator, see, augment, slow)


def build_encoders(recipe: Recipe) -> Encoders:
    """The recipe's encoders, fresh."""
    made = {name: make() for name, make in recipe.encoders.items() if not isinstance(make, SameAs)}
    shared = {
        name: made[make.view] if isinstance(make, SameAs) else made[name]
        for name, make in recipe.encoders.items()
    }
    encoders = Encoders(shared)
    return encoders.to(memory_format=torch.channels_last) if recipe.channels_last else encoders


def slow_copies(encoders: Encoders, data: Dataset, recipe: Recipe) -> SlowEncoders | None:
    """Slow copies, where the recipe wants them: of encoders that have seen the statistics of a batch."""
    if recipe.slow is None:
        return None
    if recipe.key_groups == 1 and processes.count() == 1:
        raise ValueError(
            "in one group on one process keys have the anchors' statistics: set key_groups to 2 or more"
        )
    sample = stand_still(data.fetch(torch.arange(min(recipe.batch_size, len(data)))), recipe.still)
    settle(encoders, cut(sample, recipe.views).views, sample.present)
    parts = any(":" in node for node in recipe.graph.targets)
    return SlowEncoders(encoders, recipe.slow, groups=recipe.key_groups, parts=parts)


def try_encoders(encoders: Encoders, data: Dataset, recipe: Recipe) -> Embeddings:
    """The embeddings of two samples; what does not fit is found here, before training."""
    views = first_views(data, recipe)
    return {
        node_of(name, part): embedding
        for name in encoders
        for part, embedding in _try(name, encoders[name], views[name], recipe.probe_layer).items()
    }


def first_views(data: Dataset, recipe: Recipe) -> Views:
    """The views of two samples, to see what shapes come."""
    sample = stand_still(data.fetch(torch.arange(min(2, len(data)))), recipe.still)
    return {name: view.cpu() for name, view in cut(sample, recipe.views).views.items()}


def embedding_size(tried: Embeddings, graph: PairGraph) -> int:
    """Numbers in an embedding, the same at every node of the graph."""
    strange = [node for node in graph.nodes if node not in tried]
    if strange:
        raise ValueError(
            f"the graph contrasts '{strange[0]}', but the encoders embed {', '.join(tried)}"
            f"{did_you_mean(strange[0], tried)}"
        )
    sizes = {node: tried[node].shape[-1] for node in graph.nodes}
    if len(set(sizes.values())) > 1:
        listing = ", ".join(f"{node} {size}" for node, size in sizes.items())
        raise ValueError(f"embeddings must have one size to be compared, got {listing}")
    return next(iter(sizes.values()))


@torch.no_grad()
def _try(name: str, encoder: nn.Module, view: Tensor, layer: str) -> Parts:
    """Encode a view on trial: it must fit, give [B D], and have the layer that probes will look at."""
    encoder.eval()
    try:
        features = getattr(encoder, "features", None)
        found = features(torch.nan_to_num(view)) if callable(features) else {}
        layers = found if isinstance(found, dict) else {}  # torchvision's `features` gives a tensor
        said = parts(encoder(torch.nan_to_num(view)))
    except (RuntimeError, AssertionError, ValueError) as error:  # of torch, of timm, of ours
        raise ValueError(
            f"the encoder of view '{name}' does not take it: the view is {list(view.shape)} ({error})"
        ) from error
    encoder.train()
    _check_shapes(name, said)
    if layer not in {**layers, "embedding": said[""]}:
        known = ", ".join({**layers, "embedding": said[""]})
        raise ValueError(f"probe_layer is '{layer}', but the encoder of view '{name}' has {known}")
    return said


def _check_shapes(name: str, said: Parts) -> None:
    """The whole view is one vector a sample; a part may be several."""
    if "" not in said:
        raise ValueError(
            f"the encoder of view '{name}' must also embed the whole view, under the name '', "
            f"got {', '.join(said)}"
        )
    if said[""].ndim != 2:
        raise ValueError(f"the encoder of view '{name}' must return [B D], got {list(said[''].shape)}")
    for part, embedding in said.items():
        if embedding.ndim not in (2, 3):
            raise ValueError(
                f"the encoder of view '{name}' must give its part '{part}' as [B D], or as cells [B P D], "
                f"got {list(embedding.shape)}"
            )


def check_present(data: Dataset, recipe: Recipe) -> None:
    """Refuse a dataset in which some view is there for nobody."""
    for view, have in data.present.items():
        if view in recipe.graph.views and not have.any():
            raise ValueError(f"view '{view}' is missing for all {len(have)} samples of dataset '{data.name}'")


def check_divides(recipe: Recipe, data: Dataset, processes: int) -> None:
    """Refuse batches of which processes would get unequal parts."""
    size = min(recipe.batch_size, len(data))
    if size % processes:
        raise ValueError(
            f"a batch of {size} samples does not divide among {processes} processes: "
            f"set batch_size to a multiple of {processes}"
        )
