"""Batch norm over several processes, with the statistics of all their samples; and how fast running ones move."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from coview import processes

PLAIN = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class SynchronisedNorm(_BatchNorm):
    """A batch norm with the mean and variance of all processes' samples; a process may have none of them.

    PyTorch's own, which is faster, runs on GPUs alone.
    """

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            return super().forward(input)
        with torch.autocast(input.device.type, enabled=False):
            wide = input if input.dtype == torch.float64 else input.float()
            over = [axis for axis in range(wide.ndim) if axis != 1]
            shape = [1, -1] + [1] * (wide.ndim - 2)
            count = processes.total(wide.new_tensor(wide.numel() // max(wide.shape[1], 1))).clamp(min=1)
            mean = processes.total_with_gradient(wide.sum(over)) / count
            centred = wide - mean.view(shape)
            variance = processes.total_with_gradient(centred.square().sum(over)) / count
            self._remember(mean.detach(), variance.detach(), count)
            found = centred * (variance + self.eps).rsqrt().view(shape)
            if self.affine:
                found = found * self.weight.view(shape) + self.bias.view(shape)
        return found.to(input.dtype)

    @torch.no_grad()
    def _remember(self, mean: Tensor, variance: Tensor, count: Tensor) -> None:
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.num_batches_tracked.add_(1)
        share = 1 / self.num_batches_tracked if self.momentum is None else self.momentum
        unbiased = variance * count / (count - 1).clamp(min=1)
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), share)
        self.running_var.lerp_(unbiased.to(self.running_var.dtype), share)

    def _check_input_dim(self, input: Tensor) -> None:
        """Of any dimension."""


def synchronise(module: nn.Module, device: torch.device) -> None:
    """Put a synchronised batch norm in the place of every one in the module; on GPUs PyTorch's own."""
    if device.type == "cuda":
        theirs: Any = sys.modules.get("timm.layers")  # its batch norms have an activation inside
        (theirs or nn.SyncBatchNorm).convert_sync_batchnorm(module)
        return
    for name, part in module.named_children():
        if isinstance(part, _BatchNorm):
            setattr(module, name, _as_synchronised(part))
        else:
            synchronise(part, device)


def is_synchronised(module: nn.Module) -> bool:
    """Whether every process must run this module whenever one does."""
    return any(isinstance(part, SynchronisedNorm | nn.SyncBatchNorm) for part in module.modules())


def norms_of(module: nn.Module) -> list[_BatchNorm]:
    """Every batch norm in a module, of whatever kind."""
    return [part for part in module.modules() if isinstance(part, _BatchNorm)]


@contextmanager
def moving(module: nn.Module, momentum: float) -> Iterator[None]:
    """Meanwhile running statistics go so far towards those of a batch: at 0 they stay, at 1 they become them."""
    norms = norms_of(module)
    before = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = momentum
    try:
        yield
    finally:
        for norm, old in zip(norms, before, strict=True):
            norm.momentum = old


def _as_synchronised(part: _BatchNorm) -> SynchronisedNorm:
    if isinstance(part, SynchronisedNorm):
        return part
    if type(part) not in PLAIN:
        raise ValueError(f"batch_norm is 'synchronised', but a {type(part).__name__} can only be on a GPU")
    made = SynchronisedNorm(part.num_features, part.eps, part.momentum, part.affine, part.track_running_stats)
    made.load_state_dict(part.state_dict())
    return made.train(part.training)
