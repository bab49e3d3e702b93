"""Shards: what goes in comes out, in a random order that needs few of them at a time, whoever reads and from where."""

import http.server
import io
import json
import shutil
import tarfile
import threading
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from webdataset.tariterators import group_by_keys, tar_file_expander

from coview import processes
from coview.data import Dataset, Ordered, Resident, Stream, packed
from coview.data.shards import has_shards, index, pack, read, record
from coview.data.shards.index import Index, read_index, read_known, write_known
from coview.data.shards.order import shuffled_batches
from coview.data.shards.shelf import Shelf
from coview.data.stream import BrokenFiles

SAMPLES = 53


def mixed() -> Resident:
    """Fields of every kind, with gaps in two of the views, one of which is no field."""
    luck = torch.Generator().manual_seed(4)
    fields = {
        "rgb": torch.randint(256, (SAMPLES, 3, 9, 7), generator=luck, dtype=torch.uint8),
        "mask": torch.randint(256, (SAMPLES, 1, 9, 7), generator=luck, dtype=torch.uint8),
        "depth": torch.randn(SAMPLES, 1, 9, 7, generator=luck),
        "table": torch.randn(SAMPLES, 5, generator=luck).half(),
        "clip": torch.randint(256, (SAMPLES, 2, 3, 4, 6), generator=luck, dtype=torch.uint8),
        "flag": torch.rand(SAMPLES, generator=luck) > 0.5,
    }
    present = {name: torch.rand(SAMPLES, generator=luck) > 0.4 for name in ("depth", "lightness")}
    label = torch.randint(3, (SAMPLES,), generator=luck)
    return Resident("mixed", fields, label, ("a", "b", "c"), present)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("packed")
    pack(mixed(), root / "train", megabytes=0.008)
    return root


def assert_same_sample(found, wanted):
    assert found.fields.keys() == wanted.fields.keys()
    for name, values in wanted.fields.items():
        have = wanted.present.get(name, torch.ones(len(values), dtype=torch.bool))
        assert found.fields[name].dtype == values.dtype
        assert torch.equal(found.fields[name][have], values[have]), name
        assert not found.fields[name][~have].any()
    assert torch.equal(found.label, wanted.label)
    for view, have in wanted.present.items():
        assert torch.equal(found.present[view], have)


def test_what_goes_in_comes_out(written):
    data, source = packed("train", root=written), mixed()
    assert isinstance(data, Dataset)
    assert isinstance(data, Ordered)
    order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(0))
    assert_same_sample(data.fetch(torch.tensor([40, 3, 11])), source.fetch(order[[40, 3, 11]]))
    assert (data.name, data.classes, len(data)) == ("mixed", ("a", "b", "c"), SAMPLES)
    assert torch.equal(data.label, source.label[order])
    assert len(data.index.counts) > 5
    assert [len(one.index) for one in data.batches(20)] == [20, 20, 13]


def test_in_order(tmp_path):
    pack(mixed(), tmp_path / "all", shuffle=False)
    data = packed("anything", root=tmp_path / "all")
    for found, wanted in zip(data.batches(17), mixed().batches(17), strict=True):
        assert torch.equal(found.index, wanted.index)
        assert_same_sample(found, wanted)


def test_others_can_read_them(written):
    """The format is webdataset's own."""
    with (written / "train/shard-000000.tar").open("rb") as file:
        first, *_ = list(group_by_keys(tar_file_expander([{"url": "x", "stream": file}])))
    assert first["__key__"] == "0000000000"
    kinds = {"rgb.png", "mask.npy", "table.npy", "clip.npy", "flag.npy", "cls"}
    assert kinds <= first.keys()
    assert ("depth.npy" in first) != ("depth.gap" in first)
    assert np.asarray(Image.open(io.BytesIO(first["rgb.png"]))).shape == (9, 7, 3)
    assert int(first["cls"]) == int(packed("train", root=written).label[0])


def test_files_go_in_as_they_are(tmp_path):
    """Pictures of several sizes; broken ones are left out, and what is missing is not looked at."""
    luck = np.random.default_rng(3)
    paths, sizes = [], [(20, 30), (24, 18), (31, 16), (20, 30), (9, 40), (22, 22)]
    for number, size in enumerate(sizes):
        paths.append(tmp_path / f"{number}.{('jpg', 'png')[number % 2]}")
        Image.fromarray(luck.integers(256, size=(*size, 3), dtype=np.uint8)).save(paths[-1])
    paths[3].write_bytes(b"broken")
    there = torch.tensor([True, False, True, True, True, True])
    source = Stream("files", {"rgb": paths, "again": paths}, present={"again": there}, tolerate=0.5)
    with pytest.warns(UserWarning, match="3.png .not a picture in a known format"):
        made = pack(source, tmp_path / "out", shuffle=False)
    data = packed("train", root=tmp_path / "out")
    assert len(made) == len(data) == 5
    (wanted,) = source.batches(9)
    found = data.fetch(torch.arange(5))
    assert torch.equal(found.fields["extent"], wanted.fields["extent"])
    assert torch.equal(found.fields["rgb"], wanted.fields["rgb"])
    assert not found.fields["again"][1].any()
    assert found.present["again"].tolist() == [True, False, True, True, True]
    with tarfile.open(tmp_path / "out/shard-000000.tar") as archive:
        stored = archive.extractfile("0000000000.rgb.jpg")
        assert stored is not None
        assert stored.read() == paths[0].read_bytes()
        assert {"0000000001.again.gap", "0000000003.rgb.jpg"} <= set(archive.getnames())


def counts(*numbers: int) -> Index:
    return Index("x", ("f",), torch.tensor(numbers))


@pytest.mark.parametrize("streams", [1, 4, 7])
@pytest.mark.parametrize("sizes", [(5, 9, 1, 30, 12, 7), (64,), (2, 2, 2)])
def test_an_epoch_has_every_sample_once(sizes, streams):
    made = counts(*sizes)
    orders = [list(shuffled_batches(made, 3, seed=1, epoch=epoch, streams=streams)) for epoch in (0, 0, 1)]
    whole = [torch.cat(order) for order in orders]
    full = len(made) // 3 * 3
    assert [len(batch) for batch in orders[0]] == [3] * (full // 3)
    assert len(whole[0].unique()) == full
    assert torch.equal(whole[0], whole[1])
    assert len(made) < 10 or not torch.equal(whole[0], whole[2])
    tiny = list(shuffled_batches(made, 1000, seed=1, epoch=0, streams=streams))
    assert sorted(torch.cat(tiny).tolist()) == list(range(len(made)))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_few_shards_are_needed_at_a_time_by_whoever_reads(count):
    """Each process meets its own streams, and together they meet every sample once."""
    made, streams, batch = counts(*[50] * 40), 8, 16
    batches = list(shuffled_batches(made, batch, seed=0, epoch=3, streams=streams))
    assert len(torch.cat(batches).unique()) == 2000
    dealt = [torch.cat([index[rank::count] for index in batches]) for rank in range(count)]
    met = [Counter(made.shards_of(mine).tolist()) for mine in dealt]
    for rank, mine in enumerate(dealt):
        window = streams // count * 10
        at_once = [len(made.shards_of(part).unique()) for part in mine.split(window)]
        assert max(at_once) <= 2 * streams // count
        whole = [shard for shard, times in met[rank].items() if times == 50]
        assert len(whole) >= 40 // count - streams - 1
    assert sum(len(one) for one in met) <= 40 + streams


def test_what_is_drawn_reaches_all_places():
    made = counts(*[11] * 9)
    firsts = Counter(
        int(next(shuffled_batches(made, 8, seed=seed, epoch=0, streams=3))[0]) // 11 for seed in range(300)
    )
    assert len(firsts) == 9
    assert max(firsts.values()) < 3 * min(firsts.values())


def test_shards_are_read_once_an_epoch(written, monkeypatch):
    data = packed("train", root=written, streams=2)
    reads: Counter[str] = Counter()
    whole = read.read_shard

    def counted(root, name, numbers, **rest):
        reads[name] += 1
        return whole(root, name, numbers, **rest)

    monkeypatch.setattr("coview.data.shards.streamed.read_shard", counted)
    seen = torch.cat([sample.index for sample in data.epoch(data.order(4, seed=0, epoch=0))])
    assert len(seen.unique()) == SAMPLES // 4 * 4
    assert len(reads) == len(data.index.counts)
    assert sum(reads.values()) <= len(reads) + 1  # the one that both streams have a part of


def test_any_other_order_is_right_too(written):
    data, source = packed("train", root=written, streams=1), mixed()
    small = replace(data, shelf=data.shelf)
    small.shelf.most = 1
    order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(0))
    again = torch.randperm(SAMPLES)
    for sample in small.epoch(again.split(10)):
        assert_same_sample(sample, source.fetch(order[sample.index]))


def test_processes_that_share_streams_are_told(written, monkeypatch):
    monkeypatch.setattr(processes, "count", lambda: 3)
    with pytest.warns(UserWarning, match=r"3 processes share 8 streams of shards.*streams=3\) or a multiple"):
        next(packed("train", root=written).epoch([torch.arange(4)]))


def test_a_shelf_holds_so_many():
    loaded = []

    def load(shard):
        loaded.append(shard)
        return {shard * 10: {}}

    shelf = Shelf(load, most=2, readers=1)
    for shard in (0, 1, 0, 2, 0, 1):
        assert shelf.record(shard, shard * 10) == {}
    assert loaded == [0, 1, 2, 1]
    with pytest.raises(OSError, match="the shard does not have it"):
        shelf.record(0, 7)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments) -> None:
        """Nothing."""


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_from_a_web_server(written):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(written)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}"
        data = packed("train", root=address)
        order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(0))
        assert_same_sample(data.fetch(torch.tensor([50, 2])), mixed().fetch(order[[50, 2]]))
        with pytest.raises(OSError, match=f"{address}/test/shards.json cannot be read"):
            packed("test", root=address)
    finally:
        server.shutdown()
        server.server_close()


def test_from_a_bucket(written, tmp_path, monkeypatch):
    """A stand-in for the AWS command copies from a folder."""
    aws = tmp_path / "aws"
    aws.write_text(
        f'#!/bin/sh\n[ "$1 $2 $3 $5" = "s3 cp --quiet -" ] || exit 9\nexec cat "{written}/${{4#s3://here/}}"\n'
    )
    aws.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    data = packed("train", root="s3://here")
    order = torch.randperm(SAMPLES, generator=torch.Generator().manual_seed(0))
    assert_same_sample(data.fetch(torch.tensor([9])), mixed().fetch(order[[9]]))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(OSError, match="needs the AWS command line"):
        packed("train", root="s3://here")


def test_a_pipe_is_no_place():
    with pytest.raises(ValueError, match="a pipe would run whatever it says"):
        packed("train", root="pipe://touch /tmp/x;")


def test_a_remote_shard_is_tried_again(written, monkeypatch):
    tries = []

    def failing(root, name):
        tries.append(name)
        if len(tries) < 3:
            raise OSError("away")
        return read.opened(str(written / "train"), name)

    monkeypatch.setattr(read, "PAUSE", 0.0)
    monkeypatch.setattr(read, "is_remote", lambda root: "://" in root)
    whole = read.opened
    monkeypatch.setattr(
        read, "opened", lambda root, name: failing(root, name) if "://" in root else whole(root, name)
    )
    assert len(read.read_shard("far://x", "shard-000001.tar", range(1000))) > 3
    assert len(tries) == 3


def test_a_broken_shard_is_told_and_left_out(written, tmp_path):
    shutil.copytree(written, tmp_path / "copy")
    third = tmp_path / "copy/train/shard-000002.tar"
    third.write_bytes(third.read_bytes()[:3000])
    data = packed("train", root=tmp_path / "copy", tolerate=0.5)
    with pytest.warns(UserWarning, match=r"shard-000002.tar, rgb of sample \d+ \(not a whole tar file"):
        seen = torch.cat([sample.index for sample in data.batches(10)])
    first = int(data.index.starts[2])
    lost = range(first, first + int(data.index.counts[2]))
    assert set(seen.tolist()) == set(range(SAMPLES)) - set(lost)
    with pytest.raises(BrokenFiles, match="are broken, more than the 1 % that may be left out"):
        list(packed("train", root=tmp_path / "copy").batches(10))


def test_packing_twice(written):
    with pytest.raises(FileExistsError, match="holds shards already: name another folder"):
        pack(mixed(), written / "train")


def test_where_there_are_none(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"no shards at .*train: it has no shards.json; `coview pack RECIPE"
    ):
        packed("train", root=tmp_path)
    assert not has_shards(tmp_path)


def test_has_shards(written):
    assert has_shards(written)
    assert has_shards(written / "train")
    assert has_shards("https://somewhere/else")


@pytest.mark.parametrize("name", ["a.b", "a/b", "..", "", "cls"])
def test_names_that_cannot_be_packed(name, tmp_path):
    with pytest.raises(ValueError, match="cannot be packed: names are letters"):
        pack(Resident("x", {name: torch.zeros(4, 2)}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def damaged(**changes) -> bytes:
    whole = {"format": "coview shards 1", "name": "x", "fields": ["a"], "classes": [], "samples": [3]}
    return json.dumps({**whole, **changes}).encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "is no index of shards"),
        (b"[1, 2]", "wanted 'coview shards 1', got list"),
        (b'{"format": "coview shards 2"}', "got coview shards 2"),
        (b'{"format": "coview shards 1", "name": "x", "fields": "rgb", "classes": []}', "is damaged"),
        (
            b'{"format": "coview shards 1", "name": "x", "fields": ["a"], "classes": [], "samples": [0]}',
            "is damaged",
        ),
        (
            b'{"format": "coview shards 1", "name": "x", "fields": ["a"], "classes": [], "samples": [1e9]}',
            "is damaged",
        ),
        (
            b'{"format": "coview shards 1", "name": "x", "fields": ["a", "a"], "classes": [], "samples": [3]}',
            "is damaged",
        ),
    ],
)
def test_an_index_that_is_none(text, message):
    with pytest.raises(ValueError, match=message):
        read_index(text, "shards.json")


def test_what_is_known_holds_no_python(tmp_path):
    file = io.BytesIO()
    np.savez(file, label=np.array([print, "x"], dtype=object))
    with pytest.raises(
        ValueError, match=r"known.npz cannot be read: array 'label' cannot be read: it holds Python objects"
    ):
        read_known(file.getvalue(), 2, "known.npz")
    bomb = io.BytesIO()
    np.savez_compressed(bomb, label=np.zeros(10_000_000, np.int64))
    with pytest.raises(ValueError, match="array 'label' is more than 5,696 bytes"):
        read_known(bomb.getvalue(), 100, "known.npz")
    for label, message in ((torch.zeros(3), "type float32"), (torch.zeros(4).long(), r"shape \(4,\)")):
        with pytest.raises(ValueError, match=message):
            read_known(write_known(label, {}), 3, "known.npz")
    with pytest.raises(ValueError, match="wanted 9 bits"):
        read_known(write_known(None, {"v": torch.ones(30, dtype=torch.bool)}), 9, "known.npz")


def test_arrays_are_as_large_as_they_are():
    _, data = record.as_file(torch.arange(12).view(3, 4).float())
    assert torch.equal(record.read_array(data), torch.arange(12).view(3, 4).float())
    fortran = io.BytesIO()
    np.save(fortran, np.asfortranarray(np.arange(12, dtype=">i4").reshape(3, 4)))
    assert torch.equal(record.read_array(fortran.getvalue()), torch.arange(12, dtype=torch.int32).view(3, 4))
    with pytest.raises(ValueError, match=r"cut off: float32 \[3, 4\] takes 48 bytes, and 44 are there"):
        record.read_array(data[:-4])
    with pytest.raises(ValueError, match="is more than 40 bytes"):
        record.read_array(data, largest=40)
    objects = io.BytesIO()
    np.save(objects, np.array([None, 3], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="it holds Python objects"):
        record.read_array(objects.getvalue())
    with pytest.raises(ValueError, match="not an array of NumPy"):
        record.read_array(b"hello")


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b'["uint8", [1000000, 1000000]]', b'["object", [2]]', b'["uint8", [-1]]', b'["uint8", 3]'],
)
def test_a_gap_that_is_none(data):
    with pytest.raises(ValueError, match="a gap that cannot be read"):
        record.read_gap(data)


def tar(path: Path, *members: tarfile.TarInfo, content: bytes = b"") -> None:
    with tarfile.open(path, "w") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(content))


def test_what_is_not_ours_is_not_read(tmp_path):
    """Links, folders, names that lead elsewhere, and samples of other shards."""
    kinds = {
        "0000000001.a.npy": tarfile.SYMTYPE,
        "0000000002.a.npy": tarfile.LNKTYPE,
        "0000000003.a.npy": tarfile.DIRTYPE,
    }
    strange = []
    for name, kind in {
        **kinds,
        "../0000000004.a.npy": tarfile.REGTYPE,
        "/0000000005.a.npy": tarfile.REGTYPE,
    }.items():
        strange.append(tarfile.TarInfo(name))
        strange[-1].type, strange[-1].linkname = kind, "/etc/passwd"
    tar(
        tmp_path / "x.tar", *strange, tarfile.TarInfo("0000000099.a.npy"), tarfile.TarInfo("0000000006.a.npy")
    )
    assert read.read_shard(str(tmp_path), "x.tar", range(10)) == {6: {"a": ("npy", b"")}}


def test_a_shard_that_claims_to_be_huge(tmp_path):
    one = tarfile.TarInfo("0000000001.a.npy")
    one.size = 2**40
    (tmp_path / "x.tar").write_bytes(one.tobuf())
    with pytest.raises(OSError, match="larger than a shard may be"):
        read.read_shard(str(tmp_path), "x.tar", range(10))
    sparse = tarfile.TarInfo("0000000001.a.npy")
    sparse.pax_headers = {
        "GNU.sparse.major": "0",
        "GNU.sparse.minor": "1",
        "GNU.sparse.map": "0,1",
        "GNU.sparse.size": str(2**40),
    }
    with tarfile.open(tmp_path / "y.tar", "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(sparse, io.BytesIO())
    assert read.read_shard(str(tmp_path), "y.tar", range(10)) == {}


def test_index_names_no_file():
    assert index.shard_name(7) == "shard-000007.tar"
