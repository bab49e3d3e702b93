"""Datasets too large for memory: bytes from files, decoded to pictures, put together to batches, on the device."""

from coview.data.stream.broken import BrokenFiles
from coview.data.stream.over import OverStream
from coview.data.stream.picture import Decoder, decode_picture
from coview.data.stream.stream import Stream

__all__ = ["BrokenFiles", "Decoder", "OverStream", "Stream", "decode_picture"]
