"""How far a prediction is from a view: L1, L2, or the cross-entropy of bins (Split-Brain)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional


class Distance(nn.Module):
    """The mean over all cells and channels of |said - view|, or of its square."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        if kind not in ("l1", "l2"):
            raise ValueError(f"a distance is 'l1' or 'l2', got '{kind}'")
        self.kind = kind

    def outputs(self, channels: int) -> int:
        """How many maps a decoder must make."""
        return channels

    def forward(self, said: Float[Tensor, "B C h w"], view: Float[Tensor, "B C h w"]) -> Float[Tensor, "B"]:
        apart = said - view
        return (apart.abs() if self.kind == "l1" else apart.square()).flatten(1).mean(1)


class Quantised(nn.Module):
    """Cross-entropy of the bin that each cell of the view is in, the bin whose centre is nearest.

    With centres [Q C] for a view of C channels they are told apart together; where a view has more channels than
    the centres, each group of C channels is classified by itself.
    """

    centres: Tensor

    def __init__(self, centres: Float[Tensor, "Q C"]) -> None:
        super().__init__()
        self.register_buffer("centres", centres.float())

    def outputs(self, channels: int) -> int:
        """How many maps a decoder must make: one for each bin of each group of channels."""
        bins, together = self.centres.shape
        if channels % together:
            raise ValueError(
                f"centres of {together} channels cannot quantise a view of {channels}: give centres of 1 or {channels}"
            )
        return bins * channels // together

    def classes(self, view: Float[Tensor, "B C h w"]) -> Int[Tensor, "B G h w"]:
        """The number of the nearest centre, for each group of channels."""
        values = view.unflatten(1, (-1, self.centres.shape[1])).movedim(2, -1)
        centres = self.centres.to(values.dtype)
        with torch.autocast(view.device.type, enabled=False):  # half precision would mix up neighbours
            return (values @ centres.T - centres.square().sum(1) / 2).argmax(-1)

    def forward(self, said: Float[Tensor, "B O h w"], view: Float[Tensor, "B C h w"]) -> Float[Tensor, "B"]:
        classes = self.classes(view)
        scores = said.unflatten(1, (classes.shape[1], -1)).movedim(2, 1)  # [B Q G h w]
        return functional.cross_entropy(scores, classes, reduction="none").flatten(1).mean(1)
