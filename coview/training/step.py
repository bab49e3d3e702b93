"""One step: a sample is cut into views, encoded, contrasted, descended on, and then remembered."""

import torch
from torch import Tensor, nn

from coview.training.progress import Seen, note
from coview.training.state import Training, gather
from coview.types import Batch, Sample


def train_step(training: Training, batch: Batch) -> dict[str, Tensor]:
    """One step of the method; gives the loss of every directed pair."""
    embeddings = training.encoders(batch.views, batch.present)
    with training.fabric.autocast():
        terms = training.objective(embeddings, batch.index, batch.present, views=batch.views)
    training.optimiser.zero_grad()
    training.fabric.backward(sum(terms.values()) + _touch(training, embeddings))
    descend(training)
    remember(training, embeddings, batch)
    return {name: term.detach() for name, term in terms.items()}


def step(training: Training, sample: Sample) -> Seen:
    """A batch of samples, cut into views, learned from, and noted to be looked at later."""
    views, bad = training.look(sample.fields)
    terms = train_step(training, Batch(views, sample.index, sample.present, sample.label))
    return note(training, sample, terms, bad)


def descend(training: Training) -> None:
    """Clip the gradient where the recipe says so, and follow it."""
    if training.fabric.world_size > 1:  # the encoders' gradients are averaged already
        for parameter in training.objective.parameters():  # a pair may have no anchors on one of them
            grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            parameter.grad = training.fabric.all_reduce(grad)
    if training.recipe.clip is not None:
        nn.utils.clip_grad_norm_(training.parameters, training.recipe.clip)
    training.optimiser.step()


def remember(training: Training, embeddings: dict[str, Tensor], batch: Batch) -> None:
    """Write the batch of every process into memory, in the same order everywhere."""
    fabric = training.fabric
    vectors = {node: embedding for node, embedding in embeddings.items() if embedding.ndim == 2}  # no cells
    gathered = {node: gather(fabric, embedding.detach()) for node, embedding in vectors.items()}
    present = {name: gather(fabric, have) for name, have in (batch.present or {}).items()}
    training.objective.remember(gathered, gather(fabric, batch.index), present or None)
    if fabric.world_size > 1:  # batch norms and normalisers have seen a part each
        for buffer in [*training.encoders.buffers(), *training.objective.stateful.buffers()]:
            torch.distributed.broadcast(buffer, 0)


def _touch(training: Training, embeddings: dict[str, Tensor]) -> Tensor | float:
    """Nothing, from every embedding: processes wait for the gradient of a view that no anchor of theirs has."""
    return 0.0 if training.fabric.world_size == 1 else sum(0 * one.sum() for one in embeddings.values())
