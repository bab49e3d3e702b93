"""Packed clips whose frames are numbered, for tests."""

import torch

from coview.data.video import write_pack


def counted(length: int, mark: int, height: int, width: int):
    """Frames whose grey is their number, and flows that are theirs; `mark` tells clips apart."""
    numbers = torch.arange(length, dtype=torch.uint8)[:, None, None, None]
    rgb = (numbers * 8 + mark).expand(length, 3, height, width).contiguous()
    flow = numbers[:-1].to(torch.int8).expand(length - 1, 2, height, width).contiguous()
    return rgb, flow


def pack(path, length: int, mark: int = 0, *, flow: bool = True, height: int = 16, width: int = 24):
    rgb, codes = counted(length, mark, height, width)
    write_pack(path, rgb, codes if flow else None, {"rate": 15.0})


def two_cameras(folder):
    """16 clips of two cameras, 48 x 64, two of each video, in two splits."""
    rows = ["clip,video,split1,split2"]
    for number in range(16):
        name = f"{'run' if number % 2 else 'sit'}/{number}"
        for camera in ("first", "second"):
            pack(folder / f"{camera}/{name}.zip", 17, number % 4, height=48, width=64)
        parts = ("test" if number > 11 else "train", "train" if number > 3 else "test")
        rows.append(",".join([name, str(number // 2), *parts]))
    (folder / "splits.csv").write_text("\n".join(rows))
    return folder
