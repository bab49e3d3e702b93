"""Shape annotations are checked at run time in the whole suite."""

import warnings

from jaxtyping import install_import_hook

hook = install_import_hook("coview", "checks.check")

with warnings.catch_warnings():
    # What other packages warn about while they are imported is theirs; everything after that is an error.
    warnings.simplefilter("ignore")
    import lightning.fabric
    import torch.utils.tensorboard  # noqa: F401

import pytest
import torch

torch.set_num_threads(1)  # the suite runs one process a core


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)
