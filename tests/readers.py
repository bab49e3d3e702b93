"""Every reader of files from elsewhere, with whole files for it, and the errors that it may answer with."""

import io
import json
import pickle
import tarfile
import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from coview.contrast.exact import choice
from coview.data.images.cifar import read_cifar10
from coview.data.images.classes import _rows
from coview.data.images.stl import read_stl10
from coview.data.own import arrays, manifest, readers
from coview.data.rgbd.files import READ
from coview.data.rgbd.folder import _settings
from coview.data.rgbd.nyu import count_nyu, read_nyu
from coview.data.shards import index, record
from coview.data.shards.read import read_shard
from coview.data.stream import decode_picture
from coview.data.stream.reading import goes_together
from coview.data.video.decode import VideoFile
from coview.data.video.layouts import own_folder
from coview.data.video.pack import Pack, write_pack
from coview.encoders.load import load_encoders
from coview.files import unpack
from coview.reports.runs import read_run
from coview.trained.embed import load_embedded
from coview.trained.released import _load
from coview.training import lock as locks
from coview.training.checkpoint import load_checkpoint, save_checkpoint
from coview.training.lock import Lock
from coview.training.run import RunFolder

DOCUMENTED = (
    ValueError,
    OSError,
    EOFError,
)  # what a reader may raise of a file that is not what it should be


MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # files that no disk need see


@dataclass(frozen=True)
class Reader:
    """A name, whole files, and what reads one: bytes, or a file in a folder of its own."""

    name: str
    files: Callable[[], Iterable[bytes]]
    read: Callable[[bytes], object] | None = None
    at: str = ""  # where in the folder a file is looked for
    of_path: Callable[[Path], object] | None = None
    beside: Callable[[Path], object] | None = None  # makes what else there must be

    def __call__(self, data: bytes) -> bool:
        """Read; whether the file was good. Anything but a documented error comes through."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self._try(data)
            except DOCUMENTED:
                return False
        return True

    def _try(self, data: bytes) -> None:
        if self.read is not None:
            self.read(data)
            return
        assert self.of_path is not None
        with tempfile.TemporaryDirectory(prefix="coview-readers-", dir=MEMORY) as folder:
            path = Path(folder) / self.at
            path.parent.mkdir(parents=True, exist_ok=True)
            if self.beside is not None:
                self.beside(Path(folder))
            path.write_bytes(data)
            self.of_path(path)


def saved(values, **options) -> bytes:
    file = io.BytesIO()
    np.save(file, values, **options)
    return file.getvalue()


def zipped(**values) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **values)
    return file.getvalue()


def pictures(*kinds: str) -> list[bytes]:
    luck, found = np.random.default_rng(0), []
    for kind in kinds:
        for mode, shape in (("RGB", (9, 11, 3)), ("L", (9, 11)), ("RGBA", (9, 11, 4)), ("I;16", (9, 11))):
            values = luck.integers(256, size=shape).astype(np.uint16 if mode == "I;16" else np.uint8)
            file = io.BytesIO()
            try:
                Image.fromarray(values).save(file, kind)
            except (OSError, KeyError):  # not every kind has every mode
                continue
            found.append(file.getvalue())
    return found


def checkpoint() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "step-00000001.pt"
        state = {"step": 1, "recipe": {"a": [1, 2.5, None]}, "rows": torch.arange(6.0), "text": "x"}
        save_checkpoint(path, state)
        return path.read_bytes()


def weights() -> bytes:
    file = io.BytesIO()
    torch.save({"model": {"module.l_to_ab.conv.weight": torch.zeros(2, 3)}, "epoch": 3}, file)
    return file.getvalue()


def shard() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for number, (kind, data) in enumerate(
            [record.as_file(torch.arange(4.0)), ("png", pictures("PNG")[0])]
        ):
            member = tarfile.TarInfo(record.member_name(number, "a", kind))
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return file.getvalue()


def clip() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clip.pack"
        frames = torch.randint(256, (3, 3, 8, 10), dtype=torch.uint8)
        flow = torch.randint(-100, 100, (2, 2, 8, 10), dtype=torch.int8)
        write_pack(path, frames, flow, {"frames": 3, "rate": 5.0, "flow": True})
        return path.read_bytes()


def read_clip(path: Path) -> None:
    found = Pack(path)
    found.frames(range(min(len(found), 3)))
    found.flow([0])


def table(kind: str) -> bytes:
    if kind == "csv":
        return b"sample;a;label\n1;x/1.jpg;cat\n2;;dog\n"
    import pyarrow
    from pyarrow import parquet

    columns = {"sample": ["1", "2"], "label": ["a", None]}
    rows = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(np.zeros(6, np.float32)), 3)
    file = io.BytesIO()
    parquet.write_table(pyarrow.table({**columns, "embedding.L": rows}), file)
    return file.getvalue()


def matrices() -> bytes:
    from scipy.io import savemat

    file = io.BytesIO()
    cells = np.empty(2, dtype=object)
    cells[:] = [np.zeros((4, 3)), np.ones((4, 2))]
    savemat(file, {"X": cells, "Y": np.arange(4)})
    return file.getvalue()


def exported() -> bytes:
    encoders = {"L": {"call": "coview.encoders.mlp.MLP", "inputs": 3, "hidden": [], "dim": 2}}
    return json.dumps({"format": "coview encoders 1", "encoders": encoders}).encode()


def with_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(safe_weights())


def with_config(folder: Path) -> None:
    (folder / "config.json").write_bytes(exported())


def safe_weights() -> bytes:
    from safetensors.torch import save

    return save({"L.embedding.weight": torch.zeros(2, 3), "L.embedding.bias": torch.zeros(2)})


def batch() -> bytes:
    return pickle.dumps({"data": np.zeros((2, 3072), np.uint8), "labels": [1, 2]}, protocol=2)


def with_recipe(folder: Path) -> None:
    (folder / "recipe.json").write_bytes(RECIPE)


def cifar(path: Path) -> object:
    return read_cifar10(path.parent, "test")


def with_meta(folder: Path) -> None:
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": ["a", "b"]}, protocol=2))


def locked(path: Path) -> None:
    locks.GONE = 0.0
    lock = Lock(path)
    lock.acquire()
    lock.release()


def forget(path: Path) -> None:
    RunFolder(path.parent).forget_after(4)
    read_run(path.parent)


def film(suffix: str) -> bytes:
    from video.films import write_video

    with tempfile.TemporaryDirectory() as folder:
        frames = torch.randint(256, (5, 3, 18, 24), dtype=torch.uint8)
        return write_video(Path(folder) / f"film{suffix}", frames, keys=2).read_bytes()


def read_film(path: Path) -> None:
    found = VideoFile(path)
    found.frames([0, len(found) - 1])
    found.times()


def nyu(name: str) -> bytes:
    import frames_on_disk

    with tempfile.TemporaryDirectory() as folder:
        frames_on_disk.nyu(Path(folder), frames=3, train=(1, 3))
        return (Path(folder) / name).read_bytes()


def with_hdf5(folder: Path) -> None:
    (folder / "x.mat").write_bytes(nyu("nyu_depth_v2_labeled.mat"))


def count_frames(path: Path) -> object:
    return count_nyu(path.with_name("x.mat"))


def read_hdf5(path: Path) -> object:
    return read_nyu(path, "all", classes=894)


def with_clips(folder: Path) -> None:
    for name in ("cat/one.mp4", "dog/two.mp4"):
        (folder / name).parent.mkdir()
        (folder / name).touch()


def read_layout(path: Path) -> object:
    return own_folder(path.parent)


def unpack_beside(path: Path) -> None:
    unpack(path, path.parent / "out")


def with_stl(folder: Path) -> None:
    (folder / "class_names.txt").write_text("a b")
    (folder / "train_y.bin").write_bytes(bytes([1, 2]))
    (folder / "fold_indices.txt").write_text("0 1\n" * 10)


def read_fold(path: Path) -> object:
    (path.parent / "train_X.bin").write_bytes(bytes(2 * 3 * 96 * 96))
    return read_stl10(path.parent, "fold3")


def rgbd(kind: str, path: Path) -> object:
    return READ[kind](path, scale=1000.0) if kind == "depth" else READ[kind](path)


def read_tar(path: Path) -> object:
    return read_shard(str(path.parent), path.name, range(5))


def read_folder(path: Path) -> object:
    return read_run(path.parent)


def load_folder(path: Path) -> object:
    return load_encoders(path.parent)


CLIPS = b"clip,video,split1\ncat/one,a,train\ndog/two,b,test\n"
CAMERA = b'{"fx": 519, "fy": 519, "cx": 320, "cy": 240, "depth_scale": 1000}'
RECIPE, RESULT = b'{"recipe": "demo", "fields": {"seed": 0}}', b'{"tables": {}, "x": 1}'
EMBEDDED = {"sample": np.array(["a"]), "embedding.L": np.ones((1, 3), np.float32)}
ROW = json.dumps(
    {"step": 4, "loss": 1.5, "terms": {"a->b": 1.5}, "bounds": {"a->b": 0.1}, "rate": 9.0}
).encode()
INDEX = index.Index("x", ("rgb", "depth"), torch.tensor([3, 4]), ("a", "b")).write().encode()
KNOWN = index.write_known(torch.arange(7), {"v": torch.arange(7) > 2})
ARRAYS = [
    saved(np.arange(12.0).reshape(3, 4)),
    saved(np.zeros((2, 5, 4), np.uint8)),
    saved(np.asfortranarray(np.ones((3, 2), ">i4"))),
]
PICTURES = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF", "PPM")

READERS = (
    Reader("picture", lambda: pictures(*PICTURES), decode_picture),
    Reader("JPEG header", lambda: pictures("JPEG"), lambda data: goes_together(data, 10**6)),
    Reader("values", lambda: [*pictures(*PICTURES), *ARRAYS], readers.read_values),
    Reader("npz", lambda: [zipped(a=np.ones((4, 3)), label=np.arange(4))], at="x.npz", of_path=arrays._load),
    Reader("mat", lambda: [matrices()], at="x.mat", of_path=arrays._read_mat),
    Reader("csv", lambda: [table("csv")], at="x.csv", of_path=manifest.read_rows),
    Reader("parquet", lambda: [table("parquet")], at="x.parquet", of_path=manifest.read_rows),
    *(
        Reader(f"rgbd {kind}", lambda: pictures("PNG"), at="x.png", of_path=partial(rgbd, kind))
        for kind in READ
    ),
    Reader("rgbd array", lambda: ARRAYS, at="x.npy", of_path=partial(rgbd, "depth")),
    Reader("clip", lambda: [clip()], at="x.pack", of_path=read_clip),
    Reader("video mp4", lambda: [film(".mp4")], at="x.mp4", of_path=read_film),
    Reader("video avi", lambda: [film(".avi")], at="x.avi", of_path=read_film),
    Reader(
        "splits.csv",
        lambda: [CLIPS],
        at="splits.csv",
        of_path=lambda path: own_folder(path.parent),
        beside=with_clips,
    ),
    Reader("nyu hdf5", lambda: [nyu("nyu_depth_v2_labeled.mat")], at="x.mat", of_path=read_hdf5),
    Reader(
        "nyu splits", lambda: [nyu("splits.mat")], at="splits.mat", of_path=count_frames, beside=with_hdf5
    ),
    Reader("camera.json", lambda: [CAMERA], at="camera.json", of_path=lambda path: _settings(path.parent)),
    Reader(
        "list of classes",
        lambda: [b"a.jpg,cat\nb.jpg,dog\n"],
        at="x.csv",
        of_path=lambda path: _rows(path, ","),
    ),
    Reader("stl10 folds", lambda: [b"0 1\n" * 10], at="fold_indices.txt", of_path=read_fold, beside=with_stl),
    Reader("choice of sweeps", lambda: [b'{"cpu": ["a", "b"]}'], at="x.json", of_path=choice._read),
    Reader(
        "archive",
        lambda: [shard(), zipped(a=np.ones(3))],
        at="x.tar",
        of_path=unpack_beside,
    ),
    Reader("cifar10", lambda: [batch()], at="test_batch", of_path=cifar, beside=with_meta),
    Reader("index of shards", lambda: [INDEX], lambda data: index.read_index(data, "x")),
    Reader("known of shards", lambda: [KNOWN], lambda data: index.read_known(data, 7, "x")),
    Reader("array of shards", lambda: ARRAYS, record.read_array),
    Reader("gap of shards", lambda: [record.as_gap(torch.zeros(3, 4))[1]], record.read_gap),
    Reader("shard", lambda: [shard()], at="x.tar", of_path=read_tar),
    Reader("checkpoint", lambda: [checkpoint()], at="step-00000001.pt", of_path=load_checkpoint),
    Reader("recipe.json", lambda: [RECIPE], at="recipe.json", of_path=read_folder),
    Reader(
        "metrics.jsonl", lambda: [ROW + b"\n" + ROW], at="metrics.jsonl", of_path=forget, beside=with_recipe
    ),
    Reader("result.json", lambda: [RESULT], at="result.json", of_path=read_folder, beside=with_recipe),
    Reader("lock", lambda: [b'{"pid": 1, "host": "x", "since": "y"}'], at=".lock", of_path=locked),
    Reader("embeddings npz", lambda: [zipped(**EMBEDDED)], at="x.npz", of_path=load_embedded),
    Reader("embeddings parquet", lambda: [table("parquet")], at="x.parquet", of_path=load_embedded),
    Reader("encoders", lambda: [exported()], at="config.json", of_path=load_folder, beside=with_weights),
    Reader(
        "weights", lambda: [safe_weights()], at="model.safetensors", of_path=load_folder, beside=with_config
    ),
    Reader("released weights", lambda: [weights()], at="x.pth", of_path=_load),
)


def edited(data: bytes, edits: Iterable[tuple[int, int, bytes]]) -> bytes:
    """The bytes with stretches replaced: where, how many, and what by."""
    for where, length, new in edits:
        place = where % (len(data) + 1)
        data = data[:place] + new + data[place + length :]
    return data
