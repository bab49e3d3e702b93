"""Pictures: image sets by name in their official layouts, and any folder of pictures."""

from coview.data.images.folder import read_folder
from coview.data.images.memory import load
from coview.data.images.named import image_data
from coview.data.images.place import AbsentData
from coview.data.images.sets import SETS, ImageSet, imagenet100_classes

__all__ = ["SETS", "AbsentData", "ImageSet", "image_data", "imagenet100_classes", "load", "read_folder"]
