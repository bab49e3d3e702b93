"""Augmentations can be compiled."""

import subprocess
import sys
from pathlib import Path


def test_they_compile_between_what_is_drawn():
    """In a process of its own: the shape checks of this suite are not made to be compiled."""
    script = Path(__file__).with_name("compiling.py")
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert int(ended.stdout) <= 6  # four times something is drawn, which breaks a graph
