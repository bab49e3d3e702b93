"""The processes of a run: how many, which one this is, and what they tell each other.

A single process is told what it said, so callers need not ask whether there are others. Every process must call
these in the same order.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, distributed
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

T = TypeVar("T")


def count() -> int:
    return distributed.get_world_size() if _several() else 1


def rank() -> int:
    return distributed.get_rank() if _several() else 0


def deal(values: Tensor) -> Tensor:
    """This process's rows of a batch that all know: dealt out in turn."""
    return values[rank() :: count()]


def collect(values: Tensor) -> Tensor:
    """The rows of every process in the order in which they were dealt out."""
    return gather(values).unflatten(0, (count(), -1)).transpose(0, 1).flatten(0, 1)


def gather(values: Tensor) -> Tensor:
    """The rows of every process, in the order of the processes; all must have equally many."""
    if count() == 1:
        return values
    values = values.detach().contiguous()
    found = values.new_empty(count() * len(values), *values.shape[1:])
    distributed.all_gather_into_tensor(found, values)
    return found


def gather_rows(values: Tensor, *, uneven: bool = True) -> tuple[Tensor, int]:
    """The rows of every process, and where those of this one start; `uneven`: however many each has."""
    if count() == 1:
        return values, 0
    if not uneven:
        return gather(values), rank() * len(values)
    rows = gather(torch.tensor([len(values)])).tolist()
    padded = gather(_pad(values.detach(), max(rows))).split(max(rows)) if max(rows) else [values] * count()
    return torch.cat([part[:own] for part, own in zip(padded, rows, strict=True)]), sum(rows[: rank()])


def gather_keys(keys: Tensor) -> tuple[Tensor, int]:
    """As `gather_rows`, with gradients: each process gets those of its rows from all."""
    if count() == 1:
        return keys, 0
    return _Gather.apply(keys)  # pyright: ignore[reportReturnType]


def total(values: Tensor) -> Tensor:
    """The sum over the processes."""
    return _reduced(values, distributed.ReduceOp.SUM)


def total_later(values: Tensor) -> Callable[[], Tensor]:
    """The sum over the processes, waited for when it is called for."""
    if count() == 1:
        return lambda: values
    values = values.detach().clone()
    work = distributed.all_reduce(values, async_op=True)

    def finished() -> Tensor:
        if work is not None:
            work.wait()
        return values

    return finished


def total_with_gradient(values: Tensor) -> Tensor:
    """As `total`; the gradient of what every process makes of it comes back."""
    return values if count() == 1 else _Total.apply(values)  # pyright: ignore[reportReturnType]


def mean(values: Tensor) -> Tensor:
    """The mean over the processes."""
    return total(values) / count()


def least(values: Tensor) -> Tensor:
    """The smallest over the processes."""
    return _reduced(values, distributed.ReduceOp.MIN)


def greatest(values: Tensor) -> Tensor:
    """The largest over the processes."""
    return _reduced(values, distributed.ReduceOp.MAX)


def sum_of_logs(values: Float[Tensor, "*B"]) -> Float[Tensor, "*B"]:
    """The logsumexp over the processes; -inf adds nothing."""
    if count() == 1:
        return values
    highest = greatest(values).nan_to_num(neginf=0.0)
    return total((values - highest).exp()).log() + highest


def share_out(values: Tensor, first: int, rows: int, *, uneven: bool = True) -> Tensor:
    """The sum over the processes, of which this one gets its rows: the other way of `gather_rows`."""
    if count() == 1 or uneven:
        return total(values)[first : first + rows]
    found = values.new_empty(rows, *values.shape[1:])
    distributed.reduce_scatter_tensor(found, values.contiguous())
    return found


def as_first(tensors: list[Tensor]) -> None:
    """Every process takes over the values of the first, in place; one message for each type of number."""
    if count() == 1:
        return
    for kind in dict.fromkeys(one.dtype for one in tensors):
        alike = [one for one in tensors if one.dtype == kind]
        flat = torch.cat([one.flatten() for one in alike])
        distributed.broadcast(flat, 0)
        for one, values in zip(alike, flat.split([one.numel() for one in alike]), strict=True):
            one.copy_(values.view_as(one))


def of_first(make: Callable[[], T]) -> T:
    """What the first process makes, told to all; what goes wrong there goes wrong on all, alike."""
    if count() == 1:
        return make()
    told: list[Any] = [None, None]
    if rank() == 0:
        try:
            told[0] = make()
        except Exception as error:
            told[1] = error
    distributed.broadcast_object_list(told, 0)
    if told[1] is not None:
        raise told[1]
    return told[0]


def wait() -> None:
    """Until every process has come this far."""
    total(torch.zeros(1))


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx, keys):
        found, ctx.first = gather_rows(keys)
        ctx.rows = len(keys)
        return found, ctx.first

    @staticmethod
    @once_differentiable
    def backward(ctx, *grads):  # pyright: ignore[reportIncompatibleMethodOverride]
        return share_out(grads[0], ctx.first, ctx.rows)


class _Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values):
        return total(values)

    @staticmethod
    @once_differentiable
    def backward(ctx, *grads):  # pyright: ignore[reportIncompatibleMethodOverride]
        return total(grads[0])


def _reduced(values: Tensor, how: distributed.ReduceOp.RedOpType) -> Tensor:
    if count() == 1:
        return values
    values = values.detach().clone()
    distributed.all_reduce(values, how)
    return values


def _pad(values: Tensor, rows: int) -> Tensor:
    return F.pad(values, (*(0, 0) * (values.ndim - 1), 0, rows - len(values)))


def _several() -> bool:
    return distributed.is_available() and distributed.is_initialized()
