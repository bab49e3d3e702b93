"""Pictures as the paper's released code reads them: one at a time, through scikit-image, in worker processes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import Compose, RandomHorizontalFlip, RandomResizedCrop

MEAN = torch.tensor([50.0, 6.025, -6.6895]).view(3, 1, 1)
REACH = torch.tensor([50.0, 92.208, 101.1675]).view(3, 1, 1)


class Files(Dataset):
    """A picture decoded, cropped, mirrored, converted to Lab and scaled."""

    def __init__(self, files: Sequence[Path], size: int) -> None:
        self.files = list(files)
        self.change = Compose([RandomResizedCrop(size, scale=(0.2, 1.0)), RandomHorizontalFlip()])

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, number: int) -> tuple[Tensor, int]:
        color = _skimage_colour()
        with Image.open(self.files[number]) as picture:
            lab = color.rgb2lab(np.asarray(self.change(picture.convert("RGB"))))
        return (torch.from_numpy(lab).permute(2, 0, 1).float() - MEAN) / REACH, number


def _skimage_colour() -> Any:
    try:
        from skimage import color
    except ImportError as error:
        raise ModuleNotFoundError(
            "the baseline converts colours with scikit-image, which is not installed: pip install 'coview[bench]'"
        ) from error
    return color


def loader(files: Sequence[Path], size: int, batch_size: int, workers: int) -> DataLoader:
    """Batches of Lab pictures and their numbers."""
    _skimage_colour()
    return DataLoader(
        Files(files, size),
        batch_size,
        shuffle=True,
        num_workers=workers,
        pin_memory=torch.cuda.is_available(),
        drop_last=True,
        persistent_workers=workers > 0,
    )
