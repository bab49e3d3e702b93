"""What each process does in the tests of several: the same training by hand, on its part of every batch."""

import warnings
from functools import partial

import torch

from coview import processes
from coview.contrast import (
    Bank,
    CosineCritic,
    InBatch,
    NCELoss,
    Objective,
    Queue,
    ShardedBank,
    full_graph,
    softmax_loss,
)
from coview.training.step import first_places

SAMPLES, BATCH, INPUTS, DIM, STEPS = 37, 12, 6, 5, 4
VIEWS = ["a", "b", "c"]
MOMENTUM = 0.3


def bank(start: str, present) -> Bank:
    """A bank whose rows start as those of a sharded one."""
    parts = ShardedBank(VIEWS, SAMPLES, DIM, start=start, present=present)
    made = Bank(VIEWS, SAMPLES, DIM, momentum=MOMENTUM, start=start, present=present)
    for view in VIEWS:
        rows, _ = processes.gather_rows(parts.rows(view))
        made.rows(view).copy_(rows)
    return made


def sharded(start: str, present) -> ShardedBank:
    return ShardedBank(VIEWS, SAMPLES, DIM, MOMENTUM, start=start, present=present)


KINDS = {
    "bank": partial(bank, "random"),
    "bank, empty": partial(bank, "empty"),
    "sharded": partial(sharded, "random"),
    "sharded, empty": partial(sharded, "empty"),
    "queue": lambda present: Queue(VIEWS, 17, DIM),
    "in batch": lambda present: InBatch(),
}
LOSSES = {
    "softmax": softmax_loss,
    "nce": NCELoss(SAMPLES, "running"),
    "nce, exact": NCELoss(SAMPLES, "exact"),
}
CASES = [
    (kind, loss, gaps)
    for kind in KINDS
    for loss in LOSSES
    for gaps in (False, True)
    if loss == "softmax" or kind in ("bank", "in batch")
]


def everything() -> dict[str, dict[str, torch.Tensor]]:
    """What was learned and remembered in every case, by case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a view is missing for a whole batch
        return {str(case): _trained(*case) for case in CASES}


def _trained(kind: str, loss: str, gaps: bool) -> dict[str, torch.Tensor]:
    torch.manual_seed(3)
    inputs = {view: torch.randn(SAMPLES, INPUTS) for view in VIEWS}
    present = _present() if gaps else {}
    weight = {view: torch.randn(INPUTS, DIM).requires_grad_() for view in VIEWS}
    negatives = KINDS[kind](present)
    objective = Objective(full_graph(VIEWS), CosineCritic(0.2), negatives, LOSSES[loss])
    found = {}
    for step in range(STEPS):
        order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(step))[:BATCH]
        index = processes.deal(order)
        have = {view: there[index] for view, there in present.items()} or None
        embeddings = {view: inputs[view][index] @ weight[view] for view in VIEWS}
        terms = objective(embeddings, index, have)
        slopes = torch.autograd.grad(
            sum(terms.values()) + sum(0 * e.sum() for e in embeddings.values()), list(weight.values())
        )
        ceilings = [torch.as_tensor(one).float() for one in objective.ceilings.values()]
        seen = processes.mean(torch.stack([*terms.values(), *ceilings]).detach())
        names = [*terms, *(f"ceiling of {name}" for name in objective.ceilings)]
        found |= {f"{name} at {step}": value for name, value in zip(names, seen, strict=True)}
        for one, slope in zip(weight.values(), slopes, strict=True):
            one.data -= 0.1 * processes.mean(slope)
        everyone = {view: processes.collect(e) for view, e in embeddings.items()}
        have = {view: there[order] for view, there in present.items()} or None
        objective.remember(everyone, order, have)
    for view in VIEWS:
        found[f"weight {view}"] = weight[view].detach()
        if isinstance(negatives, Bank | ShardedBank):
            found[f"rows {view}"], _ = processes.gather_rows(negatives.rows(view))
            if isinstance(negatives, Bank):
                found[f"rows {view}"] = negatives.rows(view)
    return found


def _present() -> dict[str, torch.Tensor]:
    """A third lack b; of c, one process has none in the first batch, and nobody in the second."""
    there = {"b": torch.arange(SAMPLES) % 3 != 0, "c": torch.ones(SAMPLES, dtype=torch.bool)}
    first, second = (
        torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(s))[:BATCH] for s in (0, 1)
    )
    there["c"][first[1::2]] = False
    there["c"][second] = False
    return there


def messages() -> dict[str, torch.Tensor]:
    """What the processes tell each other, of a different number of rows each."""
    rank = processes.rank()
    mine = torch.arange(3 * (rank + 2)).view(-1, 3) + 100 * rank
    rows, first = processes.gather_rows(mine)
    none, _ = processes.gather_rows(mine[:0])
    keys = mine.double().requires_grad_()
    everyone, start = processes.gather_keys(keys)
    (everyone * (rank + 1)).square().sum().backward()
    logs = torch.tensor([float("-inf"), -2000.0, 3.0]) + 5.0 * rank
    first_said = torch.tensor([rank, 7]), torch.tensor([[rank + 0.5]])
    processes.as_first(list(first_said))
    values = torch.full((2,), float(rank + 1), requires_grad=True)
    (processes.total_with_gradient(values) * (rank + 1)).sum().backward()
    return {
        "rows": rows,
        "first": torch.tensor([first, start]),
        "none": none,
        "slope": keys.grad,
        "logs": processes.sum_of_logs(logs),
        "share": processes.share_out(torch.arange(6.0).view(6, 1) * (rank + 1), rank * 4, 4 - 2 * rank),
        "even share": processes.share_out(torch.arange(6.0).view(6, 1), rank * 3, 3, uneven=False),
        "as first": torch.cat([one.flatten().double() for one in first_said]),
        "slope of total": values.grad,
        "reach": torch.stack([processes.least(torch.tensor(rank)), processes.greatest(torch.tensor(rank))]),
        "first places": first_places(torch.tensor([4, 9, 4, 0, 9, 9])),
    }
