"""Frames with colour, depth, normals and segments: NYU-Depth-V2, rendered rooms, any folder of them."""

from coview.data.rgbd.classes import NYU13, NYU40
from coview.data.rgbd.frames import Camera, Frames
from coview.data.rgbd.named import count_frames, rgbd_data

__all__ = ["NYU13", "NYU40", "Camera", "Frames", "count_frames", "rgbd_data"]
