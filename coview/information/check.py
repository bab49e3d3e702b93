"""Views for which there is nothing to estimate: constant ones, and those that fix each other."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from coview.information.canonical import directions, whiten

CLOSE = 1e-9  # how near to one a correlation is that rounding keeps from being one


def known_beforehand(
    first: Float[Tensor, "N ..."], second: Float[Tensor, "N ..."]
) -> tuple[float, str] | None:
    """The information where no estimate is needed, and why; None elsewhere. NaN and infinity are refused."""
    for place, view in (("first", first), ("second", second)):
        broken = ~view.flatten(1).isfinite().all(1)
        if broken.any():
            sample = int(broken.nonzero()[0])
            raise ValueError(
                f"the {place} view is not finite (NaN or infinite) at sample {sample} of those looked at"
            )
        if (view == view[:1]).all():
            return 0.0, f"the {place} view is the same for all samples: it has no information to share"
    if first.shape == second.shape and torch.equal(first, second) and _all_differ(first.flatten(1)):
        return math.inf, "the views are identical: their information is infinite, and no estimate can say so"
    tables = first.ndim == second.ndim == 2
    if tables and (_one_fixes_the_other(first, second) or _one_fixes_the_other(ranks(first), ranks(second))):
        return math.inf, (
            "a part of one view is fixed by the other (a correlation of 1): their information is infinite"
        )
    return None


def ranks(view: Float[Tensor, "N F"]) -> Float[Tensor, "N F"]:
    """The place of each value in its column, which no rising map changes; equal values share one."""
    columns = [column.unique(return_inverse=True)[1] for column in view.unbind(1)]
    return torch.stack(columns, 1).to(view)


def _one_fixes_the_other(first: Float[Tensor, "N E"], second: Float[Tensor, "N F"]) -> bool:
    """Whether a mix of components of one view is a mix of the other's, and takes other values for most samples."""
    white = []
    for view in (first, second):
        wide = view.double()
        spread = wide.std(0)
        centred = ((wide - wide.mean(0)) / spread.clamp(min=torch.finfo(wide.dtype).tiny))[:, spread > 0]
        white.append(centred @ whiten(centred))
    left, right = directions(*white)
    one, other = white[0] @ left[:, :1], white[1] @ right[:, :1]
    correlation = (one * other).mean() / (one.square().mean() * other.square().mean()).sqrt()
    return bool(correlation > 1 - CLOSE) and _all_differ(one.mul(1e5).round())


def _all_differ(view: Float[Tensor, "N F"]) -> bool:
    """Nearly: of views with few values, such as classes, the information is finite even where they are identical."""
    return len(view.unique(dim=0)) > 0.9 * len(view)
