"""Shape annotations are checked at run time in the whole suite."""

import importlib
import os
import tempfile
import warnings

import pytest
import torch
from jaxtyping import install_import_hook

# What is measured once a machine is kept apart from the user's.
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="coview-tests-")

hook = install_import_hook("coview", "checks.check")

with warnings.catch_warnings():
    # What other packages warn about while they are imported is theirs; everything after that is an error.
    warnings.simplefilter("ignore")
    importlib.import_module("lightning.fabric")
    importlib.import_module("torch.utils.tensorboard")

torch.set_num_threads(1)  # the suite runs one process a core


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)
