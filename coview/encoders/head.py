"""A projection head with a hidden layer, for any encoder: what contrast asks for stays out of what probes look at."""

from collections.abc import Callable

from torch import nn


def with_head(make: Callable[[], nn.Module], *, hidden: int | None = None, norm: bool = False) -> nn.Module:
    """An encoder whose linear layer `embedding` has become two, with a ReLU between them (as in MoCo v2).

    The hidden one has as many numbers as what comes in, or `hidden`, and with `norm` a batch norm (as in SimCLR).
    Probes find the layers below as before.
    """
    encoder = make()
    last = [
        (parent, child)
        for parent in encoder.modules()
        for name, child in parent.named_children()
        if name == "embedding" and isinstance(child, nn.Linear)
    ]
    if len(last) != 1:
        raise ValueError(
            f"a head takes the place of a linear layer called 'embedding', and {type(encoder).__name__} has "
            f"{len(last)} of them"
        )
    parent, linear = last[0]
    size = hidden or linear.in_features
    middle = [nn.BatchNorm1d(size)] if norm else []
    parent.embedding = nn.Sequential(
        nn.Linear(linear.in_features, size, bias=not norm),
        *middle,
        nn.ReLU(inplace=True),
        nn.Linear(size, linear.out_features),
    )
    return encoder
