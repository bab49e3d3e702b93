"""What processes of the tests start with: everything that takes long to import, and checked annotations."""

import importlib
import warnings

import torch
from jaxtyping import install_import_hook

hook = install_import_hook("coview", "checks.check")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name in ("lightning.fabric", "torch.utils.tensorboard", "coview.cli.app", "coview.training", "toys"):
        importlib.import_module(name)

torch.set_num_threads(1)
