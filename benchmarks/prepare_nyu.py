"""A zip of NYU-Depth-V2 at 240x320 (JPEG, 8-bit depth, 40 classes) -> a folder of frames that `rgbd_data` reads.

python benchmarks/prepare_nyu.py nyu_depth_v2_240x320.zip data      # writes data/nyu
"""

import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

TRAIN, TEST, CODES, FAR = 795, 654, 255, 10_000  # frames; steps of depth, and how many millimetres they reach
CAMERA = {"fx": 518.857901, "fy": 519.469611, "cx": 325.082448, "cy": 253.236166}  # at 480x640


def prepare(pack: Path, out: Path) -> Path:
    """Pictures and labels as they are, depth as 16 bits of millimetres, and lists of the official split."""
    folder = out / "nyu"
    for kind in ("rgb", "depth", "label"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(pack) as archive:
        meta = json.loads(archive.read("meta.json"))
        check(meta, archive.namelist())
        for name in archive.namelist():
            kind, _, file = name.partition("/")
            if kind == "rgb":
                (folder / "rgb" / file).write_bytes(archive.read(name))
            elif kind == "label40":
                (folder / "label" / file).write_bytes(archive.read(name))
            elif kind == "depth8":
                millimetres(archive.read(name)).save(folder / "depth" / file)
    write_lists(folder, meta)
    return folder


def millimetres(data: bytes) -> Image.Image:
    """The middle of each step of depth; the least code is a depth, too, and there are no holes."""
    codes = np.asarray(Image.open(io.BytesIO(data)), dtype=np.float64)
    return Image.fromarray(((codes + 0.5) * (FAR / CODES)).round().astype(np.uint16))


def write_lists(folder: Path, meta: dict) -> None:
    camera = {name: value / 2 for name, value in CAMERA.items()}
    camera |= {"depth_scale": 1000, "depth_step": FAR / CODES / 1000}
    (folder / "camera.json").write_text(json.dumps(camera, indent=2) + "\n")
    (folder / "classes.txt").write_text("\n".join(meta["names40"][1:]) + "\n")
    for split in ("train", "test"):
        stems = [f"{number:04d}" for number in meta[f"{split}_idx"]]
        (folder / f"{split}.txt").write_text("\n".join(stems) + "\n")


def check(meta: dict, names: list[str]) -> None:
    train, test = set(meta["train_idx"]), set(meta["test_idx"])
    there = sum(name.startswith("rgb/") and name.endswith(".jpg") for name in names)
    if (len(train), len(test), there) != (TRAIN, TEST, TRAIN + TEST) or train & test:
        raise SystemExit(
            f"wanted {TRAIN} frames to train on and {TEST} to test on, all different, got "
            f"{len(train)}, {len(test)} and {there} pictures"
        )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(prepare(Path(sys.argv[1]), Path(sys.argv[2])))
