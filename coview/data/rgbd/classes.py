"""Classes of NYU-Depth-V2: 40 (Gupta et al. 2013), and 13 (Couprie et al. 2013) that group them; the first is void."""

import torch
from jaxtyping import Int
from torch import Tensor

from coview.data.rgbd.frames import VOID

NYU13 = (
    VOID,
    *("bed", "books", "ceiling", "chair", "floor", "furniture", "objects"),
    *("picture", "sofa", "table", "tv", "wall", "window"),
)
_GROUPS = (
    (VOID, VOID),
    ("wall", "wall"),
    ("floor", "floor"),
    ("cabinet", "furniture"),
    ("bed", "bed"),
    ("chair", "chair"),
    ("sofa", "sofa"),
    ("table", "table"),
    ("door", "wall"),
    ("window", "window"),
    ("bookshelf", "furniture"),
    ("picture", "picture"),
    ("counter", "furniture"),
    ("blinds", "window"),
    ("desk", "table"),
    ("shelves", "furniture"),
    ("curtain", "window"),
    ("dresser", "furniture"),
    ("pillow", "objects"),
    ("mirror", "objects"),
    ("floor mat", "floor"),
    ("clothes", "objects"),
    ("ceiling", "ceiling"),
    ("books", "books"),
    ("refridgerator", "furniture"),  # so spelt by the authors
    ("television", "tv"),
    ("paper", "objects"),
    ("towel", "objects"),
    ("shower curtain", "objects"),
    ("box", "objects"),
    ("whiteboard", "objects"),
    ("person", "objects"),
    ("night stand", "furniture"),
    ("toilet", "objects"),
    ("sink", "objects"),
    ("lamp", "objects"),
    ("bathtub", "objects"),
    ("bag", "objects"),
    ("otherstructure", "objects"),
    ("otherfurniture", "furniture"),
    ("otherprop", "objects"),
)
NYU40 = tuple(name for name, _ in _GROUPS)


def groups_of_13() -> Int[Tensor, "K"]:
    """For each of the 40 classes the number among the 13, void first."""
    return torch.tensor([NYU13.index(group) for _, group in _GROUPS])
