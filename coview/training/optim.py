"""Optimisers and learning rates by step."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from coview.training.recipe import Recipe


def make_optimiser(recipe: Recipe, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """SGD, Adam or AdamW, as the recipe says; on CUDA as one kernel that reads the learning rate there."""
    parameters = list(parameters)
    device = parameters[0].device
    cuda = device.type == "cuda"
    rate = torch.tensor(recipe.learning_rate, device=device) if cuda else recipe.learning_rate
    decay, fused = recipe.weight_decay, True if cuda else None
    betas = (recipe.momentum, 0.999)
    if recipe.optimiser == "sgd":
        return torch.optim.SGD(parameters, rate, momentum=recipe.momentum, weight_decay=decay, fused=fused)
    if recipe.optimiser == "adam":
        return torch.optim.Adam(parameters, rate, betas=betas, weight_decay=decay, fused=fused)
    if recipe.optimiser == "adamw":
        return torch.optim.AdamW(parameters, rate, betas=betas, weight_decay=decay, fused=fused)
    raise ValueError(f"optimiser must be sgd, adam or adamw, got '{recipe.optimiser}'")


def set_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Give the next step its learning rate, where the optimiser reads it."""
    for group in optimiser.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate


def learning_rate(recipe: Recipe, step: int, epoch_steps: int) -> float:
    """The learning rate of a step; a function of the step alone, so a resumed run goes on as it was."""
    epoch = step / epoch_steps
    if epoch < recipe.warmup:
        return recipe.learning_rate * (step + 1) / max(recipe.warmup * epoch_steps, 1)
    if recipe.schedule == "constant":
        return recipe.learning_rate
    if recipe.schedule == "step":
        return recipe.learning_rate * recipe.decay ** sum(
            epoch >= milestone for milestone in recipe.milestones
        )
    if recipe.schedule == "cosine":
        done = (epoch - recipe.warmup) / max(recipe.epochs - recipe.warmup, 1 / epoch_steps)
        return recipe.learning_rate * (1 + math.cos(math.pi * min(done, 1.0))) / 2
    raise ValueError(f"schedule must be constant, step or cosine, got '{recipe.schedule}'")
