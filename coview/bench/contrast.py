"""The softmax over every sample beside the paper's: own draws of m negatives for each anchor, gathered in float32."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from coview.bench.measure import Row, captured, measure, row
from coview.contrast import backends_for, exact_softmax

ANCHORS, DIM, TEMPERATURE = 256, 128, 0.07
FULL = {"cuda": 1_281_167, "cpu": 100_000}  # samples
DRAWN = {"cuda": 16_384, "cpu": 4_096}  # negatives of the baseline
KINDS = {"cuda": (torch.float16, torch.bfloat16), "cpu": (torch.float32,)}  # of the bank, the default first
SWEEP = {"cuda": (10_000, 100_000, 1_000_000, 10_000_000), "cpu": (1_000, 10_000, 100_000)}
OTHERS = 3  # anchors' views that share a target


def bench_contrast(device: torch.device) -> Iterator[Row]:
    """One direction, loss and gradient by the query: every way there is, the baseline, and how time grows with N."""
    samples, drawn = FULL[device.type], DRAWN[device.type]
    bank = _bank(samples, device)
    query, match = _queries(bank, ANCHORS)
    slow = partial(gathered, query, bank.float(), match, drawn)
    theirs = list(_take(f"{drawn:,} drawn", "gathered, float32", slow, device))
    yield from (replace(one, ratio=1.0) for one in theirs)
    for kind in KINDS[device.type]:
        keys = bank.to(kind)
        right = _truth(query, keys, match)
        for backend in backends_for(keys):
            error = _error(query, keys, match, backend, right)
            way = f"{backend}, {str(kind).removeprefix('torch.')}"
            ours = _take(f"all {samples:,}", way, partial(descend, query, keys, match, backend), device)
            for one, other in zip(ours, theirs, strict=True):
                yield replace(one, ratio=other.milliseconds / one.milliseconds, note=error)
    yield from _together(bank, device)
    for size in SWEEP[device.type]:
        bank = _bank(size, device)
        query, match = _queries(bank, ANCHORS)
        backend = backends_for(bank)[0]
        yield from _take(f"all {size:,}", backend, partial(descend, query, bank, match, backend), device)


def descend(query: Tensor, bank: Tensor, match: Tensor, backend: str | None = None) -> tuple[Tensor, Tensor]:
    """Our way: loss of each anchor, and the gradient of their mean."""
    query = query.detach().requires_grad_()
    loss = exact_softmax(query, bank, match, backend=backend)
    (slope,) = torch.autograd.grad(loss.mean(), query)
    return loss.detach(), slope


def gathered(query: Tensor, bank: Tensor, match: Tensor, drawn: int) -> tuple[Tensor, Tensor]:
    """The released code's way: every anchor's draw as rows of its own, a batched product, a softmax over it."""
    query = query.detach().requires_grad_()
    columns = torch.randint(len(bank), (len(query), drawn + 1), device=bank.device)
    columns[:, 0] = match
    rows = bank.index_select(0, columns.flatten()).view(len(query), drawn + 1, -1)
    scores = torch.bmm(rows, query[:, :, None]).squeeze(2)
    loss = F.cross_entropy(scores, torch.zeros_like(match), reduction="none")
    (slope,) = torch.autograd.grad(loss.mean(), query)
    return loss.detach(), slope


def _together(bank: Tensor, device: torch.device) -> Iterator[Row]:
    """Views that choose from one target: their anchors in one call, or a call each."""
    work = f"{OTHERS} views to one target"
    questions = [_queries(bank, ANCHORS) for _ in range(OTHERS)]
    queries, matches = (torch.cat(parts) for parts in zip(*questions, strict=True))
    yield from _take(work, "one call", partial(descend, queries, bank, matches), device)

    def apart() -> None:
        for query, match in questions:
            descend(query, bank, match)

    yield from _take(work, "a call each", apart, device)


def _take(work: str, way: str, call: Callable[[], object], device: torch.device) -> Iterator[Row]:
    """Called from Python; on CUDA also as a graph, where the time is that of the kernels alone."""
    times, memory = measure(call, device, repeats=50)
    yield row(work, way, times, memory)
    if device.type == "cuda":
        times, _ = measure(captured(call), device, repeats=50)
        yield row(work, f"{way}, captured", times, memory)


def _bank(samples: int, device: torch.device) -> Tensor:
    """Random unit rows, as the bank of such a device holds them."""
    generator = torch.Generator(device).manual_seed(0)
    rows = torch.empty(samples, DIM, dtype=KINDS[device.type][0], device=device)
    for part in rows.split(1_000_000):
        part.copy_(F.normalize(torch.randn(len(part), DIM, generator=generator, device=device)))
    return rows


def _queries(bank: Tensor, anchors: int) -> tuple[Tensor, Tensor]:
    """Anchors half way to their match, as in training."""
    match = torch.randint(len(bank), (anchors,), device=bank.device)
    noise = F.normalize(torch.randn(anchors, DIM, device=bank.device))
    return F.normalize(bank[match].float() + noise) / TEMPERATURE, match


def _truth(query: Tensor, bank: Tensor, match: Tensor) -> tuple[Tensor, Tensor]:
    """The same from the same keys in float64."""
    return descend(query.double(), bank, match)


def _error(query: Tensor, bank: Tensor, match: Tensor, backend: str, right: tuple[Tensor, Tensor]) -> str:
    """How far from float64 loss and gradient are, relative."""
    found = descend(query, bank, match, backend)
    errors = [float((one - other).norm() / other.norm()) for one, other in zip(found, right, strict=True)]
    return f"off float64 by {errors[0]:.1e}, gradient {errors[1]:.1e}"
