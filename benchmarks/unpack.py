"""Pieces of the packs, as `split` cuts them, -> the layouts that `image_data` reads, on a machine without a network.

python benchmarks/unpack.py data PIECE...      # e.g. pieces/tiny.000 pieces/tiny.001 pieces/cifar10.000 ...
"""

import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import prepare_cifar10
import prepare_nyu
import prepare_tiny
import prepare_two_camera

PACKS = {
    "cifar10": prepare_cifar10.prepare,
    "nyu": prepare_nyu.prepare,
    "tiny": prepare_tiny.prepare,
    "two-camera": prepare_two_camera.unpack,
}


def unpack(out: Path, pieces: list[Path]) -> list[Path]:
    """Join the pieces of each pack, in the order of their names, and prepare what it holds."""
    packs = defaultdict(list)
    for piece in sorted(pieces, key=lambda path: path.name):
        packs[piece.name.partition(".")[0]].append(piece)
    strange = [name for name in packs if name not in PACKS]
    if strange or not packs:
        raise SystemExit(f"pieces are called {' or '.join(f'{name}.000' for name in PACKS)}, got {strange}")
    return [join(PACKS[name], parts, out) for name, parts in packs.items()]


def join(prepare, pieces: list[Path], out: Path) -> Path:
    with tempfile.TemporaryDirectory() as folder:
        pack = Path(folder) / "pack.tar"  # tarfile sees by itself how it is compressed
        with pack.open("wb") as file:
            for piece in pieces:
                file.write(piece.read_bytes())
        return prepare(pack, out)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    for made in unpack(Path(sys.argv[1]), [Path(piece) for piece in sys.argv[2:]]):
        print(made)
