"""The command line."""

import os

# Waiting threads that spin take the cores from everything else that runs: beside one busy process the demo was
# 3 to 8 times slower with them. It has to be said before torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from coview.cli.app import main

__all__ = ["main"]
