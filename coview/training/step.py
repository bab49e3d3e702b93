"""One step: a sample is cut into views, encoded, contrasted, descended on, remembered; slow copies then follow."""

from functools import partial

import torch
from jaxtyping import Int
from torch import Tensor, nn

from coview import processes
from coview.training.progress import Seen, note
from coview.training.state import Training
from coview.types import Batch, Embeddings, Sample, Views


def train_step(training: Training, batch: Batch) -> dict[str, Tensor]:
    """One step of the method; gives the loss of every directed pair."""
    embeddings, keys = encode(training, batch)
    with training.fabric.autocast():
        terms = contrast(training, batch, embeddings, keys)
    training.optimiser.zero_grad()
    training.fabric.backward(sum(terms.values()) + _touch(training, embeddings, keys))
    descend(training)
    remember(training, embeddings if keys is None else keys, batch)
    follow(training)
    return {name: term.detach() for name, term in terms.items()}


def step(training: Training, sample: Sample) -> Seen:
    """A batch of samples, cut into views, learned from, and noted to be looked at later."""
    views, bad = training.look(sample.fields)
    second = None
    if sample.second is not None:
        second, worse = training.look(sample.second)
        bad = bad | worse
    terms = train_step(training, Batch(views, sample.index, sample.present, sample.label, second))
    return note(training, sample, terms, bad)


def encode(training: Training, batch: Batch) -> tuple[Embeddings, Embeddings | None]:
    """The embeddings of the anchors, and those of the targets where slow copies or a second crop make them."""
    if training.slow is None and batch.second is not None:
        return _both_crops(training, batch, batch.second)
    embeddings = training.encoders(batch.views, batch.present)
    if training.slow is None:
        return embeddings, None
    with training.fabric.autocast():
        keys = training.slow(batch.views if batch.second is None else batch.second, batch.present)
    return embeddings, {node: key.to(embeddings[node].dtype) for node, key in keys.items()}


def contrast(
    training: Training, batch: Batch, embeddings: Embeddings, keys: Embeddings | None
) -> dict[str, Tensor]:
    """The terms of a batch; of two crops that are both learned from, each is asked about the other."""
    given = {} if keys is None else {"keys": keys}
    ask = partial(training.objective, index=batch.index, present=batch.present, views=batch.views)
    terms = ask(embeddings, **given)
    if keys is None or training.slow is not None:
        return terms
    back = ask(keys, keys=embeddings)
    return {name: (term + back[name]) / 2 for name, term in terms.items()}


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
    embeddings = {
        node: embedding for node, embedding in embeddings.items() if embedding.ndim == 2
    }  # no cells
    index, present = batch.index, batch.present
    if processes.count() > 1:
        index = processes.collect(index)
        first = first_places(index)  # of a sample that is there twice the first counts
        embeddings = {name: processes.collect(embedding)[first] for name, embedding in embeddings.items()}
        present = {name: processes.collect(have)[first] for name, have in (present or {}).items()} or None
    training.objective.remember(embeddings, index, present)
    # Batch norms and normalisers may have seen a part each.
    processes.as_first([*training.encoders.buffers(), *training.objective.stateful.buffers()])


def first_places(index: Int[Tensor, "B"]) -> Int[Tensor, "B"]:
    """For each number where it comes first, so that writing by number is the same in any order."""
    numbers, order = index.sort(stable=True)
    place = torch.arange(len(index), device=index.device)
    new = torch.ones_like(index, dtype=torch.bool)
    new[1:] = numbers[1:] != numbers[:-1]
    starts = torch.where(new, place, 0).cummax(0).values
    return torch.empty_like(order).index_copy_(0, order, order[starts])


def follow(training: Training) -> None:
    """Let the slow copies come a little nearer to the encoders, as these are now."""
    if training.slow is not None:
        training.slow.follow(training.trained)


def _both_crops(training: Training, batch: Batch, second: Views) -> tuple[Embeddings, Embeddings]:
    """Both crops through the encoders at once, as one batch of twice the size."""
    views = {name: torch.cat([view, second[name]]) for name, view in batch.views.items()}
    present = {name: have.repeat(2) for name, have in (batch.present or {}).items()}
    halves = {node: said.chunk(2) for node, said in training.encoders(views, present).items()}
    return {node: half[0] for node, half in halves.items()}, {node: half[1] for node, half in halves.items()}


def _touch(training: Training, *said: Embeddings | None) -> Tensor | float:
    """Nothing, from every embedding: processes wait for the gradient of a view that no anchor of theirs has."""
    if training.fabric.world_size == 1:
        return 0.0
    return sum(0 * one.sum() for embeddings in said for one in (embeddings or {}).values())
