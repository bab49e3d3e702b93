"""How much room features may take, and in what precision they fit into it."""

import os

import torch

WITHOUT_KNOWING = 2**32  # bytes, where the machine does not tell how much memory it has


def room(device: torch.device) -> int:
    """Bytes that features may take: half of what is free on a GPU, a quarter of a machine's memory elsewhere."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] // 2
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    except (AttributeError, ValueError, OSError):
        return WITHOUT_KNOWING


def kept_as(numbers: int, samples: int, *, memory: int) -> torch.dtype:
    """float32 where so many numbers of each sample fit, else float16; refused where that does not fit either."""
    for kind in (torch.float32, torch.float16):
        if numbers * samples * kind.itemsize <= memory:
            return kind
    wanted = numbers * samples * torch.float16.itemsize
    raise ValueError(
        f"{numbers:,} numbers of {samples:,} samples take {_gib(wanted)} even as float16, and {_gib(memory)} "
        "may be used: probe fewer layers at a time"
    )


def _gib(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"
