"""Image sets in their official layouts, small: real folders and files, of rendered rooms.

Each function writes one set below a root, as `image_data` looks for it there; where the pictures are not changed by
a JPEG it gives them in the order in which the files have them. The classes differ in their light.
"""

import pickle
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from coview.data.images import imagenet100_classes
from coview.data.scenes import render

WNIDS = ("n01440764", "n02102040", "n02979186", "n03000684")
AIRPLANES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
BIRDS = ("airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck")


@lru_cache(maxsize=8)
def rooms(count: int, *, size: int, seed: int = 0) -> np.ndarray:
    """Rendered rooms, uint8 [N S S 3]."""
    return render(torch.arange(count), seed=seed, size=size)["rgb"].permute(0, 2, 3, 1).contiguous().numpy()


def by_class(classes: int, each: int, *, size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """As many rooms of each of some classes, class by class, and the numbers of their classes.

    A class has one light, so that there is something to learn.
    """
    label = np.arange(classes).repeat(each)
    light = 1 - 0.6 * (label / max(classes - 1, 1))
    pictures = rooms(classes * each, size=size, seed=seed) * light[:, None, None, None]
    return pictures.astype(np.uint8), label


def cifar10(root: Path, *, train: int = 4, test: int = 2) -> dict[str, np.ndarray]:
    """CIFAR-10 with so many pictures of each class, in five batches as they come."""
    folder = root / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    written = {}
    for split, each in {"train": train, "test": test}.items():
        pictures, label = by_class(10, each, size=32, seed=each)
        shuffled = np.random.default_rng(each).permutation(len(label))
        written[split] = pictures[shuffled]
        names = [f"data_batch_{number}" for number in range(1, 6)] if split == "train" else ["test_batch"]
        for name, part in zip(names, np.array_split(shuffled, len(names)), strict=True):
            rows = pictures[part].transpose(0, 3, 1, 2).reshape(len(part), -1)
            content = {"batch_label": name, "labels": label[part].tolist(), "data": rows, "filenames": []}
            (folder / name).write_bytes(pickle.dumps(content, protocol=2))
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": list(AIRPLANES)}, protocol=2))
    return written


def stl10(root: Path, *, train: int = 4, test: int = 2, unlabeled: int = 13) -> dict[str, np.ndarray]:
    """STL-10 with so many pictures of each class, a fold of every tenth training picture each, and unlabelled ones."""
    folder = root / "stl10_binary"
    folder.mkdir(parents=True)
    written = {"unlabeled": rooms(unlabeled, size=96, seed=7)}
    for split, each in {"train": train, "test": test}.items():
        written[split], label = by_class(10, each, size=96, seed=each)
        (label + 1).astype(np.uint8).tofile(folder / f"{split}_y.bin")
    for split, pictures in written.items():
        np.ascontiguousarray(pictures.transpose(0, 3, 2, 1)).tofile(folder / f"{split}_X.bin")
    (folder / "class_names.txt").write_text("\n".join(BIRDS) + "\n")
    folds = [" ".join(map(str, range(number, 10 * train, 10))) for number in range(10)]
    (folder / "fold_indices.txt").write_text("\n".join(folds) + "\n")
    return written


def tiny(
    root: Path, *, classes: Sequence[str] = WNIDS, train: int = 3, val: int = 2
) -> dict[str, np.ndarray]:
    """Tiny-ImageNet: 64x64 JPEGs, boxes beside them, a list of the classes of `val`, a test set without labels."""
    folder = root / "tiny-imagenet-200"
    pictures, label = by_class(len(classes), train, size=64, seed=3)
    for number, (picture, one) in enumerate(zip(pictures, label, strict=True)):
        wnid = classes[one]
        save(picture, folder / f"train/{wnid}/images/{wnid}_{number % train}.JPEG")
        (folder / f"train/{wnid}/{wnid}_boxes.txt").write_text(f"{wnid}_0.JPEG\t0\t10\t63\t58\n")
    shown, label = by_class(len(classes), val, size=64, seed=4)
    order = np.random.default_rng(0).permutation(len(label))
    rows = [f"val_{number}.JPEG\t{classes[label[one]]}\t0\t1\t60\t62\n" for number, one in enumerate(order)]
    for number, one in enumerate(order):
        save(shown[one], folder / f"val/images/val_{number}.JPEG")
    (folder / "val/val_annotations.txt").write_text("".join(rows))
    save(pictures[0], folder / "test/images/test_0.JPEG")
    (folder / "wnids.txt").write_text("\n".join(classes) + "\n")
    (folder / "words.txt").write_text(
        "".join(f"{wnid}\tthing {number}, object\n" for number, wnid in enumerate(classes))
    )
    return {"train": pictures, "val": shown[order]}


def imagenet(root: Path, *, classes: Sequence[str] = WNIDS, train: int = 3, val: int = 2) -> None:
    """ImageNet: JPEGs of several sizes in class folders."""
    _imagenet(root / "imagenet", classes, train, val)


def imagenet100(root: Path, *, train: int = 1, val: int = 1) -> None:
    """ImageNet with the 100 classes of the paper's appendix and a few others."""
    _imagenet(root / "imagenet", [*imagenet100_classes(), "n01440764", "n02102040"], train, val)


def kaggle(root: Path, *, classes: Sequence[str] = WNIDS, train: int = 3, val: int = 2) -> None:
    """ImageNet as Kaggle's archive has it: `val` is flat, and a table beside everything says the classes."""
    folder = root / "ILSVRC/Data/CLS-LOC"
    _imagenet(folder, classes, train, val)
    names = sorted(folder.glob("val/*/*.JPEG"), key=lambda path: path.name)
    rows = [f"{path.stem},{path.parent.name} 1 2 3 4 {path.parent.name} 5 6 7 8\n" for path in names]
    (root / "LOC_val_solution.csv").write_text("ImageId,PredictionString\n" + "".join(rows))
    lines = [f"{wnid} object {number % 3}, thing\n" for number, wnid in enumerate(classes)]
    (root / "LOC_synset_mapping.txt").write_text("".join(lines))
    for path in names:
        path.rename(folder / "val" / path.name)
    for wnid in classes:
        (folder / "val" / wnid).rmdir()
    save(rooms(1, size=40)[0], folder / "test/ILSVRC2012_test_00000001.JPEG")


def class_folders(
    root: Path,
    *,
    classes: Sequence[str] = ("bed", "kitchen", "office"),
    each: int = 5,
    size: int = 24,
    kind="png",
) -> dict[str, np.ndarray]:
    """A folder for each class, in the root itself."""
    pictures, label = by_class(len(classes), each, size=size, seed=5)
    for number, (picture, one) in enumerate(zip(pictures, label, strict=True)):
        save(picture, root / classes[one] / f"{number:03}.{kind}")
    return {name: pictures[label == one] for one, name in enumerate(classes)}


def save(picture: np.ndarray, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(path)


def _imagenet(folder: Path, classes: Sequence[str], train: int, val: int) -> None:
    pictures = rooms(7, size=96)
    for number, wnid in enumerate(classes):
        for split, count in {"train": train, "val": val}.items():
            for one in range(count):
                picture = pictures[(number + one) % 7][: 56 + 8 * (one % 3), : 64 + 4 * (number % 5)]
                name = f"{wnid}_{one}" if split == "train" else f"ILSVRC2012_val_{number * val + one:08}"
                save(np.ascontiguousarray(picture), folder / split / wnid / f"{name}.JPEG")
