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

from coview.data.images.cifar import read_cifar10
from coview.data.own import arrays, manifest, readers
from coview.data.rgbd.files import READ
from coview.data.shards import index, record
from coview.data.shards.read import read_shard
from coview.data.stream import decode_picture
from coview.data.stream.together import goes_together
from coview.data.video.pack import Pack, write_pack
from coview.encoders.load import load_encoders
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
        with tempfile.TemporaryDirectory(prefix="coview-readers-") as folder:
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


def rgbd(kind: str, path: Path) -> object:
    return READ[kind](path, scale=1000.0) if kind == "depth" else READ[kind](path)


def read_tar(path: Path) -> object:
    return read_shard(str(path.parent), path.name, range(5))


def read_folder(path: Path) -> object:
    return read_run(path.parent)


def load_folder(path: Path) -> object:
    return load_encoders(path.parent)


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
