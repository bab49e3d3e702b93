"""Datasets larger than a disk: tar shards that are streamed from anywhere, and written from any dataset."""

from coview.data.shards.pack import pack
from coview.data.shards.read import is_remote
from coview.data.shards.streamed import Shards, has_shards, packed

__all__ = ["Shards", "has_shards", "is_remote", "pack", "packed"]
