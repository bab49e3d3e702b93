"""What a sample is, and how it reaches the device."""

from coview.data.dataset import Dataset
from coview.data.held import held_out, within_train
from coview.data.resident import Resident
from coview.data.stream import Stream

__all__ = ["Dataset", "Resident", "Stream", "held_out", "within_train"]
