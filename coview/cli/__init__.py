"""The command line."""

import os

# Threads that wait for each other spin, by default for so long that one busy neighbour on two cores made the demo's
# training 15 times slower (46 images/s). With a short spin it is 2 times (390), and 7 % slower on an idle machine
# (715 for 765). It has to be said before torch is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from coview.cli.app import main

__all__ = ["main"]
