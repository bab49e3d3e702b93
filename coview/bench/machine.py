"""What is measured on, and how fast it can be at the best."""

import platform
from typing import Any

import torch

from coview.bench.measure import measure
from coview.training.machine import cores, processor


def describe_machine(device: torch.device) -> dict[str, Any]:
    """The machine in words, and its two ceilings, measured."""
    rate, bandwidth = ceilings(device)
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else processor(),
        "cores": cores(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "matrix_tflops": rate,
        "bandwidth_gbs": bandwidth,
    }


def ceilings(device: torch.device) -> tuple[float, float]:
    """TFLOP/s of a large matrix product (bfloat16 on CUDA), and GB/s of a large copy, read and written."""
    cuda = device.type == "cuda"
    side, kind = (8192, torch.bfloat16) if cuda else (1024, torch.float32)
    one, other = (torch.randn(side, side, device=device, dtype=kind) for _ in range(2))
    product, _ = measure(lambda: one @ other, device, repeats=10)
    source = torch.ones(2**30 if cuda else 2**26, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    copy, _ = measure(lambda: target.copy_(source), device, repeats=10)
    return 2e-9 * side**3 / sorted(product)[5], 2e-6 * len(source) / sorted(copy)[5]
