"""The machine in words, so that every run says where its numbers are from."""

import os
import platform
from pathlib import Path

import torch


def machine_name() -> str:
    """The accelerator where there is one, else the processor and how many cores of it may be used."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{processor()}, {cores()} cores"


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    """The processor as its maker calls it, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
