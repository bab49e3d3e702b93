"""Procedures: the train step, the loop around it, checkpoints and run folders."""

from coview.training.apart import apart
from coview.training.checkpoint import TrainingError
from coview.training.heartbeat import Lost
from coview.training.looks import LookIn
from coview.training.loop import fit
from coview.training.prediction import prediction, split_brain
from coview.training.recipe import Recipe, contrast, describe, in_batch, override, patches, queue, softmax
from coview.training.run import RunFolder
from coview.training.state import Training
from coview.training.step import train_step
from coview.training.stop import Stopped

__all__ = [
    "LookIn",
    "Lost",
    "Recipe",
    "RunFolder",
    "Stopped",
    "Training",
    "TrainingError",
    "apart",
    "contrast",
    "describe",
    "fit",
    "in_batch",
    "override",
    "patches",
    "prediction",
    "queue",
    "softmax",
    "split_brain",
    "train_step",
]
