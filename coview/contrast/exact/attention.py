"""The sweep as one attention call: PyTorch's own kernels, which are reached in this place alone."""

import warnings
from collections.abc import Callable
from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from coview.contrast.exact.choice import fastest_first
from coview.contrast.exact.chunked import sweep_chunks
from coview.contrast.exact.merge import merge

Kernel = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""From queries [1 S B D] and keys [1 S L D] to the attention output [1 S B D] and its logsumexp [1 S B]."""

MOST = 2**30  # numbers in the keys of one call: kernels count in 32 bits
LEAST = 128  # keys in a slice
FEW = 65_536  # keys of which few may share the softmax: there the rounding of bfloat16 outputs would show
PROBED: dict[tuple[str, torch.device, torch.dtype, int], bool] = {}  # which kernels work here, once tried


def _cudnn(query: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    found = torch.ops.aten._scaled_dot_product_cudnn_attention(query, keys, keys, None, True, scale=1.0)
    return found[0], found[1]


def _flash(query: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    found = torch.ops.aten._scaled_dot_product_flash_attention(query, keys, keys, scale=1.0)
    return found[0], found[1]


def _flash_cpu(query: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(query, keys, keys, scale=1.0)


KERNELS: dict[str, tuple[str, Kernel]] = {
    "cudnn": ("cuda", _cudnn),
    "flash": ("cuda", _flash),
    "flash_cpu": ("cpu", _flash_cpu),
}
PRECISIONS = {"cuda": (torch.bfloat16, torch.float16), "cpu": (torch.float32,)}


def backends_for(keys: Float[Tensor, "K D"]) -> list[str]:
    """Every way there is to sweep over such keys on their device, the fastest first."""
    kind = keys.device.type
    fits = len(keys) >= LEAST and keys.dtype in PRECISIONS.get(kind, ())
    found = [
        name
        for name, (device, _) in KERNELS.items()
        if fits and device == kind and _works(name, keys.device, keys.dtype, _whole(keys.shape[1], 8))
    ]
    every = [*found, "chunked"]
    return fastest_first(every, _measure) if kind == "cpu" and found else every


def attend(
    query: Float[Tensor, "B D"], keys: Float[Tensor, "K D"], backend: str
) -> tuple[Float[Tensor, "B"], Float[Tensor, "B D"]]:
    """logsumexp of the scores and the keys averaged by their softmax, by one of the kernels."""
    if keys.dtype == torch.bfloat16 and query.is_cuda and len(keys) <= FEW:
        keys = keys.half()  # the same numbers, for rows of any usual size
    rounded = query.to(keys.dtype)
    parts = [_attend(rounded, block, KERNELS[backend][1]) for block in keys.split(MOST // keys.shape[1])]
    logs, expected = zip(*parts, strict=True)
    log_total, mean = merge(torch.cat(logs), torch.cat(expected)) if len(parts) > 1 else merge(*parts[0])
    # The kernel saw rounded queries. The slope of the logsumexp is at hand, so what rounding took is put back.
    return log_total + ((query - rounded) * mean).sum(1), mean


def _attend(
    query: Float[Tensor, "B D"], keys: Float[Tensor, "K D"], kernel: Kernel
) -> tuple[Float[Tensor, "S B"], Float[Tensor, "S B D"]]:
    """The sums of each slice of the keys; slices are heads to the kernel, which runs heads side by side."""
    count, dim = query.shape
    slices = _slices(count, len(keys), query.device)
    # Kernels are planned by shape, and gaps make batches of any size: few shapes, few plans.
    more = _whole(count, 64) - count if query.is_cuda else 0
    wide = _whole(dim, 8) - dim  # numbers of zero in both change no score
    rows = F.pad(query, (0, wide, 0, more)) if wide or more else query
    keys = F.pad(keys, (0, wide)) if wide else keys
    whole = len(keys) - len(keys) % slices
    parts = [keys[:whole].view(slices, -1, dim + wide), keys[None, whole:]]
    found = [kernel(rows.expand(1, len(part), *rows.shape), part[None]) for part in parts if part.shape[1]]
    logs = torch.cat([logsumexp.reshape(-1, len(rows)) for _, logsumexp in found])
    expected = torch.cat([output[0] for output, _ in found])
    return logs[:, :count], expected[:, :count, :dim].float()


def _slices(queries: int, keys: int, device: torch.device) -> int:
    """As many as fill the cores, as long as each has enough to do."""
    wanted = torch.get_num_threads()
    if device.type == "cuda":
        blocks = -(-queries // 128)  # of queries, which a kernel treats apart anyway
        wanted = -(-2 * _processors(device) // blocks)
    return max(min(wanted, keys // LEAST), 1)


@lru_cache
def _processors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count


def _works(name: str, device: torch.device, dtype: torch.dtype, dim: int) -> bool:
    """Whether a kernel is there and right on this machine: tried once, but never while a CUDA graph is captured."""
    key = (name, device, dtype, dim)
    if key not in PROBED:
        if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
            return False
        PROBED[key] = _probe(*key)
    return PROBED[key]


def _probe(name: str, device: torch.device, dtype: torch.dtype, dim: int) -> bool:
    """Whether a kernel gives what the chunked sweep gives; said where it does not."""
    query, keys = _example(device, 64, 3 * LEAST + 5, dim)
    try:
        log_total, mean = attend(query, keys.to(dtype), name)
        right = sweep_chunks(query, keys.to(dtype), None, query[:, 0])
        error = max(
            float((one - other).abs().max()) for one, other in zip((log_total, mean), right, strict=True)
        )
        reason = "" if error < 0.02 else f"it is off by {error:.2g}"
    except (
        RuntimeError,
        AttributeError,
        TypeError,
        ValueError,
    ) as problem:  # private operators: anything can change
        reason = " ".join(str(problem).split())[:200]
    if reason:
        warnings.warn(
            f"the attention kernel '{name}' is not used for {dtype} and {dim} numbers: {reason}", stacklevel=2
        )
    return not reason


def _measure(backend: str) -> Callable[[], object]:
    """A sweep to take the time of, on the CPU."""
    query, keys = _example(torch.device("cpu"), 256, 8192, 128)
    if backend == "chunked":
        return lambda: sweep_chunks(query, keys, None, query[:, 0])
    return lambda: attend(query, keys, backend)


def _example(device: torch.device, queries: int, keys: int, dim: int) -> tuple[Tensor, Tensor]:
    """Random unit vectors, without touching the random numbers of the run."""
    generator = torch.Generator().manual_seed(0)
    query, key = (F.normalize(torch.randn(n, dim, generator=generator)) for n in (queries, keys))
    return 10 * query.to(device), key.to(device)


def _whole(number: int, step: int) -> int:
    return -(-number // step) * step
