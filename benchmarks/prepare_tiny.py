"""A tar.xz of 100 classes of Tiny-ImageNet -> the official layout, with the files of those classes alone.

python benchmarks/prepare_tiny.py tiny_imagenet64_100class.tar.xz data      # writes data/tiny-imagenet-100
"""

import sys
import tarfile
from collections import Counter
from pathlib import Path

TRAIN, VAL = 500, 50  # images of a class


def prepare(pack: Path, out: Path) -> Path:
    """Unpack, and leave out of the lists what is not in the pack."""
    folder = out / "tiny-imagenet-100"
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(pack) as tar:
        tar.extractall(folder, filter="data")
    classes = sorted(one.name for one in (folder / "train").iterdir())
    keep_lines(folder / "wnids.txt", classes, column=0)
    keep_lines(folder / "val/val_annotations.txt", classes, column=1)
    (folder / "wnids100.txt").unlink(missing_ok=True)
    check(folder, classes)
    return folder


def keep_lines(path: Path, wanted: list[str], *, column: int) -> None:
    """The lines of a table that have one of the wanted words in a column."""
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if line.split()[column] in wanted))


def check(folder: Path, classes: list[str]) -> None:
    rows = [line.split()[:2] for line in (folder / "val/val_annotations.txt").read_text().splitlines()]
    there = {one.name for one in (folder / "val/images").iterdir()}
    val = Counter(wnid for name, wnid in rows if name in there)
    for wnid in classes:
        train = len(list((folder / "train" / wnid / "images").glob("*.JPEG")))
        if (train, val[wnid]) != (TRAIN, VAL):
            raise SystemExit(
                f"class {wnid} has {train} train and {val[wnid]} val images, not {TRAIN} and {VAL}"
            )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(prepare(Path(sys.argv[1]), Path(sys.argv[2])))
