"""What a sample is, and how it reaches the device."""

from coview.data.dataset import Dataset, Ordered
from coview.data.held import held_out, within_train
from coview.data.resident import Resident
from coview.data.shards import Shards, packed
from coview.data.stream import Stream

__all__ = ["Dataset", "Ordered", "Resident", "Shards", "Stream", "held_out", "packed", "within_train"]
