"""Rows of a memory bank and what is known of them: what both kinds of bank do to them alike (section 3.4)."""

import math

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor
from torch.nn import functional as F

OUT, RANDOM, WRITTEN = 0, 1, 2  # what a row holds: nothing, its random start, a sample


def averaged(
    rows: Float[Tensor, "B D"],
    state: UInt8[Tensor, "B"],
    embedding: Float[Tensor, "B D"],
    have: Bool[Tensor, "B"] | None,
    *,
    momentum: float,
) -> tuple[Float[Tensor, "B D"], UInt8[Tensor, "B"]]:
    """What the rows of some samples, and their states, are after these have been seen again."""
    share = torch.where(state == OUT, 0.0, momentum)[:, None]
    old = rows.float()
    new = F.normalize(share * old + (1 - share) * unit(embedding), dim=1)
    after = torch.full_like(state, WRITTEN)
    if have is not None:  # what was written stays, what never was goes out
        kept = state == WRITTEN
        new = torch.where(have[:, None], new, old * kept[:, None])
        after = torch.where(have | kept, after, OUT)
    return new.to(rows.dtype), after.to(state.dtype)


def unit(embedding: Tensor) -> Tensor:
    """As rows are: of length 1, in float32, without a gradient."""
    return F.normalize(embedding.detach().float(), dim=1)


def reach(dim: int) -> float:
    """How far from 0 the numbers of a row start: its length is then near 1, as in the paper."""
    return 1 / math.sqrt(dim / 3)


def first_state(start: str) -> int:
    """What rows hold before anything is written."""
    if start not in ("random", "empty"):
        raise ValueError(f"start must be 'random' or 'empty', got {start!r}")
    return RANDOM if start == "random" else OUT


def number_type(precision: str) -> torch.dtype:
    """In what rows are kept; "auto" is what the attention kernels of this machine sweep over."""
    kinds = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
    kinds["auto"] = kinds["float16" if torch.cuda.is_available() else "float32"]
    if precision not in kinds:
        raise ValueError(f"precision must be 'float32', 'float16', 'bfloat16' or 'auto', got {precision!r}")
    return kinds[precision]


def check_index(index: Int[Tensor, "B"], samples: int) -> None:
    """Refuse numbers of no sample."""
    # On a GPU the look would wait for it; there the kernels themselves stop at a wrong index.
    if index.device.type == "cpu" and len(index) and not 0 <= int(index.min()) <= int(index.max()) < samples:
        wrong = next(i for i in index.tolist() if not 0 <= i < samples)
        raise IndexError(
            f"sample index {wrong} is outside the bank of {samples} samples (0 to {samples - 1}): "
            "make the bank as long as the dataset"
        )
