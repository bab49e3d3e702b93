"""Clips: decoded by PyAV, packed with their flow, and drawn at random moments."""

from coview.data.video.clips import Clips
from coview.data.video.decode import BrokenClip
from coview.data.video.find import clips_below, open_clip
from coview.data.video.named import clip_data
from coview.data.video.pack import Pack, write_pack
from coview.data.video.takes import Takes, takes

__all__ = [
    "BrokenClip",
    "Clips",
    "Pack",
    "Takes",
    "clip_data",
    "clips_below",
    "open_clip",
    "takes",
    "write_pack",
]
