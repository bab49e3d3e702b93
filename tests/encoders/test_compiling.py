"""Encoders can be compiled as a whole."""

import subprocess
import sys
from pathlib import Path


def test_they_compile_without_a_break():
    """In a process of its own: the shape checks of this suite are not made to be compiled."""
    script = Path(__file__).with_name("compiling.py")
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert ended.stdout.split() == [
        *("MLP", "SmallConv", "imagenet_half", "stl10_half", "strided", "with_cells"),
        *("resnet18", "resnet50", "test_convnext", "test_vit"),
    ]
