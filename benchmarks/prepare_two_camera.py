"""143 pairs of clips of two cameras (AIRTLab, 320x180) -> first/, second/ and splits.csv.

python benchmarks/prepare_two_camera.py airtlab_two_camera_320x180.zip data      # writes data/two-camera

How scenes are kept apart: all clips show one room and a few actors, and nothing says who or when. Clips were filmed
and numbered one after the other. So each class is cut into three stretches of numbers, of which each split tests on
another: neighbours, which may show one take, are on one side but for those at a cut. An unbroken run of clips with the
same list of actions counts as one video: its clips are never negatives of each other, and where a cut divides it, what
is left of it is neither trained nor tested on. Both clips of a pair always go together.
"""

import csv
import sys
import tarfile
import zipfile
from itertools import groupby
from pathlib import Path

SPLITS = 3
CAMERAS = {"cam1": "first", "cam2": "second"}


def prepare(pack: Path, out: Path) -> Path:
    """Unpack each camera's clips by class, and write the list of videos and splits."""
    folder = out / "two-camera"
    with zipfile.ZipFile(pack) as files:
        for name in files.namelist():
            if name.endswith(".mp4"):
                label, camera, clip = name.split("/")
                place = folder / CAMERAS[camera] / label / clip
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(files.read(name))
        rows = list(csv.DictReader(files.read("pairs.csv").decode().splitlines()))
    write_table(folder / "splits.csv", rows)
    return folder


def unpack(pack: Path, out: Path) -> Path:
    """A tar of packed frames, as `coview flow` made them of the above -> the same folder elsewhere."""
    with tarfile.open(pack) as tar:
        tar.extractall(out, filter="data")
    return out / "two-camera-frames"


def write_table(path: Path, rows: list[dict[str, str]]) -> None:
    columns = [f"split{split}" for split in range(1, SPLITS + 1)]
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["clip", "video", *columns])
        for _, group in groupby(rows, key=lambda row: row["label"]):
            table.writerows(lines_of(list(group)))


def lines_of(rows: list[dict[str, str]]) -> list[list[str]]:
    """The clips of one class, in the order of their numbers."""
    rows = sorted(rows, key=lambda row: int(row["file"].removesuffix(".mp4")))
    runs = [list(run) for _, run in groupby(rows, key=lambda row: row["actions"])]
    video = [number for number, run in enumerate(runs) for _ in run]
    lines = []
    for place, row in enumerate(rows):
        clip = f"{row['label']}/{row['file'].removesuffix('.mp4')}"
        parts = [part_of(place, len(rows), split, video) for split in range(SPLITS)]
        lines.append([clip, f"{row['label']}-{video[place]}", *parts])
    return lines


def part_of(place: int, count: int, split: int, video: list[int]) -> str:
    """What a clip is for in a split; nothing, where it continues a run from the other side of a cut."""
    first, last = split * count // SPLITS, (split + 1) * count // SPLITS
    if first <= place < last:
        return "test"
    beside = {video[first], video[last - 1]}
    return "" if video[place] in beside else "train"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(prepare(Path(sys.argv[1]), Path(sys.argv[2])))
