"""Datasets in files: what is decoded, in which order, how far ahead, and what happens to broken files."""

import io
import threading
import time
import traceback
from contextlib import nullcontext
from itertools import chain

import numpy as np
import pytest
import torch
from PIL import Image

from coview.data import Dataset, Stream
from coview.data.stream import BrokenFiles, decode_picture
from coview.data.stream import together as module
from coview.data.stream.broken import stand_ins
from coview.data.stream.picture import as_tensor
from coview.data.stream.reading import goes_together
from coview.data.stream.together import device_decoder

HEIGHT, WIDTH = 20, 28


def drawn(number=0, height=HEIGHT, width=WIDTH) -> Image.Image:
    """A smooth picture, another for each number."""
    rows, columns = np.mgrid[:height, :width]
    channels = (rows * 5 + number * 11, columns * 4 + 30, rows + columns + number * 7)
    return Image.fromarray(np.stack(channels, -1).clip(0, 255).astype(np.uint8))


def encoded(image: Image.Image, kind: str, **settings) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **settings)
    return file.getvalue()


def by_pillow(data: bytes) -> torch.Tensor:
    image = Image.open(io.BytesIO(data)).convert("RGB")
    return torch.from_numpy(np.array(image)).permute(2, 0, 1)


def written(folder, contents):
    """Files with these contents, in order."""
    paths = [folder / f"{number:04}" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


def pictures(count, kind="PNG"):
    return [encoded(drawn(number), kind) for number in range(count)]


def numbered(folder, count):
    """Files that say their own number, for decoders that are only to be watched."""
    return written(folder, [str(number).encode() for number in range(count)])


def number_of(data: bytes) -> torch.Tensor:
    return torch.tensor([int(data)])


def crew() -> list[str]:
    """The threads that are still at work."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("coview")]


KINDS = {
    "jpeg": lambda: encoded(drawn(), "JPEG", quality=90),
    "progressive jpeg": lambda: encoded(drawn(), "JPEG", progressive=True),
    "grey jpeg": lambda: encoded(drawn().convert("L"), "JPEG"),
    "rgb jpeg": lambda: encoded(drawn(), "JPEG", keep_rgb=True),
    "cmyk jpeg": lambda: encoded(drawn().convert("CMYK"), "JPEG"),
    "png": lambda: encoded(drawn(), "PNG"),
    "grey png": lambda: encoded(drawn().convert("L"), "PNG"),
    "black and white png": lambda: encoded(drawn().convert("1"), "PNG"),
    "palette png": lambda: encoded(drawn().quantize(19), "PNG"),
    "transparent palette png": lambda: encoded(drawn().quantize(19), "PNG", transparency=7),
    "transparent png": lambda: encoded(drawn().convert("RGBA"), "PNG"),
    "gif": lambda: encoded(drawn(), "GIF"),
    "animated gif": lambda: encoded(drawn(), "GIF", save_all=True, append_images=[drawn(5)]),
    "transparent gif": lambda: encoded(drawn().quantize(19), "GIF", transparency=7),
    "tiff": lambda: encoded(drawn(), "TIFF"),
    "bmp": lambda: encoded(drawn(), "BMP"),
    "webp": lambda: encoded(drawn(), "WEBP"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_are_those_of_pillow(kind):
    data = KINDS[kind]()
    picture = decode_picture(data)
    assert picture.dtype == torch.uint8
    assert picture.shape == (3, HEIGHT, WIDTH)
    assert picture.is_contiguous()
    difference = (picture.int() - by_pillow(data).int()).abs().max()
    assert difference <= (2 if "jpeg" in kind else 0)
    assert picture.float().std() > 15
    assert ("grey" in kind) == torch.equal(picture[0], picture[2]) or "black" in kind


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_of_16_bits_the_upper_8_are_taken(kind):
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    values = (rows * 2500 + columns * 600).astype(np.uint16)
    picture = decode_picture(encoded(Image.fromarray(values), kind))
    assert picture.dtype == torch.uint8
    assert torch.equal(picture, torch.from_numpy((values // 256).astype(np.uint8)).expand(3, -1, -1))


def test_a_stored_orientation_is_left_aside():
    exif = Image.Exif()
    exif[0x0112] = 6  # to be shown upright, the camera was turned
    data = encoded(drawn(), "JPEG", exif=exif)
    assert decode_picture(data).shape == (3, HEIGHT, WIDTH)


@pytest.mark.parametrize("kind", ["jpeg", "palette"])
def test_without_decoders_of_torchvision_pillow_decodes(kind, monkeypatch):
    palette = encoded(drawn().quantize(19), "PNG", transparency=bytes(range(19)))
    data = palette if kind == "palette" else KINDS["jpeg"]()
    expected = decode_picture(data)
    monkeypatch.setattr("coview.data.stream.picture.torchvision_operators", lambda: object())
    assert (decode_picture(data).int() - expected.int()).abs().max() <= (0 if kind == "palette" else 2)


JPEG, PNG = (encoded(drawn(height=40, width=48), kind) for kind in ("JPEG", "PNG"))
BROKEN = {
    "empty": (b"", "the file is empty"),
    "text": (b"this is no picture", "not a picture in a known format"),
    "header": (JPEG[:100], "Truncated File Read"),
    "end": (JPEG[:-100], r"image file is truncated \(\d+ bytes not processed\)"),
    "last byte": (JPEG[:-1], "image file is truncated"),
    "half png": (PNG[: len(PNG) // 2], "image file is truncated|broken PNG"),
    "large": (encoded(drawn(0, 50, 60), "PNG"), "60x50 is more than pixels=2,999 allow"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_cannot_be_decoded_says_why(kind, tmp_path):
    data, reason = BROKEN[kind]
    with pytest.raises((OSError, ValueError), match=reason):
        decode_picture(data, pixels=2999)
    paths = written(tmp_path, [data, encoded(drawn(), "PNG")])
    stream = Stream("x", {"rgb": paths}, tolerate=0.5, pixels=2999)
    with pytest.warns(UserWarning, match=rf"^1 of 2 samples of dataset 'x' .*/0000 \(.*({reason})"):
        assert stream.fetch(torch.tensor([0, 1])).index.tolist() == [1]


def test_a_picture_may_have_as_many_pixels_as_are_allowed():
    assert decode_picture(BROKEN["large"][0], pixels=3000).shape == (3, 50, 60)


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "folder").mkdir()
    paths = [tmp_path / "gone.jpg", tmp_path / "folder", *written(tmp_path, pictures(1))]
    stream = Stream("x", {"rgb": paths}, tolerate=0.9)
    with pytest.warns(UserWarning, match=r"/gone.jpg \(No such file .*/folder \(Is a directory\)$"):
        assert [sample.index.tolist() for sample in stream.batches(3)] == [[2]]


def test_names_of_files_may_be_anything(tmp_path):
    names = ["schön 画.png", "a\nb.png", "no extension"]
    for number, name in enumerate(names):
        (tmp_path / name).write_bytes(encoded(drawn(number), "PNG"))
    sample = Stream("x", {"rgb": [str(tmp_path / name) for name in names]}).fetch(torch.tensor([2, 0, 1]))
    for row, number in enumerate([2, 0, 1]):
        assert torch.equal(sample.fields["rgb"][row], by_pillow(encoded(drawn(number), "PNG")))


def labelled(folder, count=7, **settings) -> Stream:
    """Samples with labels and a view that has gaps."""
    label = torch.arange(count) * 10
    present = {"ab": torch.arange(count) % 3 > 0}
    return Stream("rooms", {"rgb": written(folder, pictures(count))}, label, ("a", "b"), present, **settings)


def check(sample, numbers, stream):
    """The sample is what stands in the files with these numbers."""
    assert sample.index.tolist() == numbers
    assert sample.label.tolist() == [number * 10 for number in numbers]
    assert sample.present["ab"].tolist() == [number % 3 > 0 for number in numbers]
    assert list(sample.fields) == ["rgb"]
    for row, number in enumerate(numbers):
        expected = by_pillow(stream.files["rgb"][number].read_bytes())
        assert torch.equal(sample.fields["rgb"][row], expected)


def test_it_is_a_dataset(tmp_path):
    stream = labelled(tmp_path)
    assert isinstance(stream, Dataset)
    assert (len(stream), stream.name, stream.classes) == (7, "rooms", ("a", "b"))
    assert stream.device == torch.device("cpu")


def test_fetch_and_epoch_and_batches_give_what_is_in_the_files(tmp_path):
    stream = labelled(tmp_path, workers=3)
    check(stream.fetch(torch.tensor([5, 0, 5, 6])), [5, 0, 5, 6], stream)
    orders = [[3, 1], [6, 0, 2, 4, 1], [5]]
    samples = list(stream.epoch(torch.tensor(order) for order in orders))
    for sample, numbers in zip(samples, orders, strict=True):
        check(sample, numbers, stream)
    samples = list(stream.batches(3))
    for sample, numbers in zip(samples, [[0, 1, 2], [3, 4, 5], [6]], strict=True):
        check(sample, numbers, stream)
    assert crew() == []


def test_without_labels_and_gaps(tmp_path):
    sample = Stream("x", {"rgb": written(tmp_path, pictures(2))}).fetch(torch.tensor([1]))
    assert sample.label is None
    assert sample.present is None


def test_a_subset_is_a_dataset_counted_anew(tmp_path):
    stream = labelled(tmp_path)
    part = stream.subset(torch.tensor([6, 2, 3]))
    sample = part.fetch(torch.tensor([2, 0]))
    assert (len(part), sample.index.tolist()) == (3, [2, 0])
    assert sample.label.tolist() == [30, 60]
    assert sample.present["ab"].tolist() == [False, False]
    assert torch.equal(sample.fields["rgb"], stream.fetch(torch.tensor([3, 6])).fields["rgb"])


def test_everything_arrives_on_the_device(tmp_path):
    stream = labelled(tmp_path).to("meta")
    assert stream.device.type == "meta"
    sample = stream.fetch(torch.tensor([1, 4, 0]))
    tensors = [sample.index, sample.label, sample.present["ab"], sample.fields["rgb"]]
    assert {tensor.device.type for tensor in tensors} == {"meta"}
    assert sample.fields["rgb"].shape == (3, 3, HEIGHT, WIDTH)


def test_the_order_does_not_depend_on_which_file_comes_first(tmp_path):
    def slow_at_first(data):
        time.sleep(0.004 * (11 - int(data)) / 11)
        return number_of(data)

    stream = Stream("x", {"n": numbered(tmp_path, 12)}, decoders={"n": slow_at_first}, workers=5, ahead=3)
    samples = list(stream.batches(2))
    assert torch.cat([sample.fields["n"] for sample in samples]).flatten().tolist() == list(range(12))


def test_all_workers_read_at_once(tmp_path):
    together = threading.Barrier(3)

    def meet(data):
        together.wait(timeout=10)
        return number_of(data)

    stream = Stream("x", {"n": numbered(tmp_path, 3)}, decoders={"n": meet}, workers=3)
    assert stream.fetch(torch.arange(3)).fields["n"].flatten().tolist() == [0, 1, 2]


@pytest.mark.parametrize("ahead", [1, 3])
def test_the_next_batches_are_made_while_one_is_used_and_no_more(tmp_path, ahead):
    read = [threading.Event() for _ in range(12)]
    asked = []

    def noted(data):
        read[int(data)].set()
        return number_of(data)

    def order():
        for number in range(12):
            asked.append(number)
            yield torch.tensor([number])

    stream = Stream("x", {"n": numbered(tmp_path, 12)}, decoders={"n": noted}, ahead=ahead)
    for number, _ in enumerate(stream.epoch(order())):
        last = min(number + ahead, 11)
        assert read[last].wait(timeout=10)
        assert asked == list(range(last + 1))


@pytest.mark.parametrize("way", ["close", "break", "error"])
def test_who_leaves_early_leaves_no_threads(tmp_path, way):
    read, before = [], []

    def slow_after_the_first_batch(data):
        read.append(data)
        if len(read) > 200:
            time.sleep(0.005)
        return number_of(data)

    def leave(samples):
        for _ in samples:
            assert len(crew()) == 3
            before.append(len(read))
            if way == "error":
                raise KeyboardInterrupt
            if way == "break":
                break
            samples.close()

    files = numbered(tmp_path, 1) * 2000
    stream = Stream("x", {"n": files}, decoders={"n": slow_after_the_first_batch}, workers=2, ahead=9)
    with pytest.raises(KeyboardInterrupt) if way == "error" else nullcontext():
        leave(stream.batches(200))
    assert crew() == []
    assert len(read) < before[0] + 20


def test_nothing_starts_before_the_first_sample_is_asked_for(tmp_path):
    samples = labelled(tmp_path).batches(2)
    assert crew() == []
    samples.close()


def test_an_error_in_a_worker_comes_out_where_the_samples_are_used(tmp_path):
    def mistaken(data):
        return {}["no such key"] if int(data) == 4 else number_of(data)

    stream = Stream("x", {"n": numbered(tmp_path, 9)}, decoders={"n": mistaken})
    seen = []
    with pytest.raises(KeyError, match="no such key") as caught:
        seen.extend(sample.index.tolist() for sample in stream.batches(2))
    assert seen == [[0, 1], [2, 3]]
    assert "mistaken" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    del caught
    assert crew() == []


def test_an_error_in_the_order_comes_out_too(tmp_path):
    def order():
        yield torch.tensor([1, 0])
        raise RuntimeError("no more numbers")

    with pytest.raises(RuntimeError, match="no more numbers"):
        list(labelled(tmp_path, ahead=1).epoch(order()))
    assert crew() == []


@pytest.mark.parametrize(("index", "what"), [([0, 7], "index 7"), ([-1], "index -1"), ([], "an empty index")])
def test_an_index_outside(tmp_path, index, what):
    with pytest.raises(IndexError, match=f"^{what} is out of bounds: samples of dataset 'rooms' are 0 to 6$"):
        labelled(tmp_path).fetch(torch.tensor(index, dtype=torch.int64))


def with_gaps(folder, tolerate=0.5) -> Stream:
    """Seven samples, of which 2 and 6 are broken."""
    stream = labelled(folder, tolerate=tolerate)
    for number in (2, 6):
        stream.files["rgb"][number].write_bytes(b"")
    return stream


def test_good_samples_stand_in_for_broken_ones(tmp_path):
    stream = with_gaps(tmp_path)
    orders = [[6, 0, 2, 5], [1, 3, 4, 2]]
    with pytest.warns(UserWarning, match="broken") as warned:
        samples = list(stream.epoch(torch.tensor(order) for order in orders))
    check(samples[0], [0, 0, 5, 5], stream)
    check(samples[1], [1, 3, 4, 1], stream)
    names = ", ".join(f"{tmp_path}/000{number} (the file is empty)" for number in (6, 2))
    text = f"2 of 7 samples of dataset 'rooms' are broken and were left out: {names}"
    assert [str(one.message) for one in warned] == [text]


def test_stand_ins():
    assert stand_ins([0, 1, 2], 3) == [0, 1, 2]
    assert stand_ins([1, 4], 6) == [1, 1, 4, 4, 4, 1]


def test_broken_samples_are_told_once_and_not_tried_again(tmp_path):
    stream = with_gaps(tmp_path)
    with pytest.warns(UserWarning, match=r"^1 of 7 .*/0006 \("):
        list(stream.epoch([torch.tensor([6, 0])]))
    (tmp_path / "0006").write_bytes(pictures(1)[0])
    assert [sample.index.tolist() for sample in stream.epoch([torch.tensor([6, 0])])] == [[0, 0]]
    with pytest.warns(UserWarning, match=r"^2 of 7 .*/0002 \(.*/0006 \("):
        assert [sample.index.tolist() for sample in stream.to("cpu").batches(3)] == [[0, 1], [3, 4, 5]]
    assert sorted(stream.broken.faults) == [2, 6]
    assert stream.subset(torch.tensor([5, 4, 6])).fetch(torch.tensor([2])).index.tolist() == [2]


def test_a_broken_file_is_opened_once(tmp_path):
    tried = []

    def odd(data):
        tried.append(int(data))
        if int(data) % 2:
            raise EOFError
        return number_of(data)

    stream = Stream("x", {"n": numbered(tmp_path, 4)}, decoders={"n": odd}, tolerate=0.5)
    with pytest.warns(UserWarning, match=r"/0001 \(EOFError\), .*/0003 \(EOFError\)$"):
        list(stream.batches(3))
    list(stream.batches(3))
    assert sorted(tried) == [0, 0, 1, 2, 2, 3]


def test_a_batch_of_which_nothing_is_left(tmp_path):
    stream = with_gaps(tmp_path)
    message = r"^all 2 samples of a batch of dataset 'rooms' are broken: .*/0006 .*/0002 "
    with pytest.raises(BrokenFiles, match=message):
        list(stream.epoch([torch.tensor([6, 2])]))
    with pytest.warns(UserWarning, match="^2 of 7"), pytest.raises(BrokenFiles, match=message):
        stream.fetch(torch.tensor([6, 2]))
    assert [sample.index.tolist() for sample in stream.batches(2)] == [[0, 1], [3], [4, 5]]


def test_more_than_one_in_a_hundred_stops(tmp_path):
    good, broken = written(tmp_path, [pictures(1)[0], b""])
    paths = [good] * 250
    paths[7] = paths[120] = broken
    order = torch.arange(250).split(10)
    with pytest.warns(UserWarning, match="^2 of 250 samples"):
        assert len(list(Stream("x", {"rgb": paths}).epoch(order))) == 25
    paths[101] = broken
    stream, seen = Stream("x", {"rgb": paths}), []
    message = (
        r"^3 of 250 samples of dataset 'x' are broken, more than the 1 % that may be left out: .*`tolerate`$"
    )
    with pytest.raises(BrokenFiles, match=message):
        seen.extend(sample.index[0].item() for sample in stream.epoch(order))
    assert seen == list(range(0, 120, 10))
    with pytest.raises(BrokenFiles, match=r"^3 of 250"):
        list(stream.epoch(order))
    assert issubclass(BrokenFiles, OSError)


def test_ten_are_named_and_the_rest_is_counted(tmp_path):
    good, broken = written(tmp_path, [pictures(1)[0], b""])
    stream = Stream("x", {"rgb": [broken] * 1012 + [good] * 212}, tolerate=0.9)
    with pytest.warns(UserWarning, match="broken") as warned:
        assert sum(len(sample.index) for sample in stream.batches(100)) == 212
    text = str(warned[0].message)
    assert text.startswith("1,012 of 1,224 samples of dataset 'x' are broken and were left out: ")
    assert text.count("/0001 (the file is empty)") == 10
    assert text.endswith(" and 1,002 more")


def test_pictures_of_different_sizes_lie_in_the_corner_of_a_canvas(tmp_path):
    sizes = [(11, 30), (25, 14), (8, 9)]
    contents = [encoded(drawn(number, *size), "PNG") for number, size in enumerate(sizes)]
    fields = Stream("x", {"rgb": written(tmp_path, contents)}).fetch(torch.arange(3)).fields
    assert fields["extent"].tolist() == [list(size) for size in sizes]
    assert fields["extent"].dtype == torch.int64
    assert fields["rgb"].shape == (3, 3, 25, 30)
    for values, content, (height, width) in zip(fields["rgb"], contents, sizes, strict=True):
        assert torch.equal(values[:, :height, :width], by_pillow(content))
        assert values[:, height:].sum() == values[:, :, width:].sum() == 0


def depth_of(data: bytes) -> torch.Tensor:
    """A depth map in metres from 16 bits in millimetres."""
    return torch.from_numpy(np.array(Image.open(io.BytesIO(data))) / np.float32(1000))[None]


def array_of(data: bytes) -> torch.Tensor:
    return torch.from_numpy(np.load(io.BytesIO(data)))


def rooms(folder, sizes) -> Stream:
    """Pictures, depth maps and poses, of which the last depth map may have a size of its own."""
    rgb, depth, pose = (folder / name for name in ("rgb", "depth", "pose"))
    for number, (height, width) in enumerate(sizes):
        file = io.BytesIO()
        np.save(file, np.arange(4.0) + number)
        values = np.full((height, width), 1000 + 500 * number, dtype=np.uint16)
        contents = [encoded(drawn(number, height, width), "JPEG"), encoded(Image.fromarray(values), "PNG")]
        for place, content in zip((rgb, depth, pose), [*contents, file.getvalue()], strict=True):
            place.mkdir(exist_ok=True)
            (place / f"{number:02}").write_bytes(content)
    files = {place.name: sorted(place.iterdir()) for place in (rgb, depth, pose)}
    return Stream("rooms", files, decoders={"depth": depth_of, "pose": array_of}, tolerate=0.5)


def test_other_fields_have_decoders_of_their_own(tmp_path):
    fields = rooms(tmp_path, [(11, 30), (25, 14)]).fetch(torch.tensor([1, 0])).fields
    assert list(fields) == ["rgb", "depth", "pose", "extent"]
    assert fields["depth"].shape == (2, 1, 25, 30)
    assert fields["depth"].dtype == torch.float32
    assert fields["depth"].amax((1, 2, 3)).tolist() == [1.5, 1.0]
    assert fields["depth"][0, 0, :, 14:].sum() == fields["depth"][1, 0, 11:].sum() == 0
    assert fields["pose"].tolist() == [[1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 2.0, 3.0]]


def test_maps_of_one_sample_have_one_size(tmp_path):
    stream = rooms(tmp_path, [(11, 30), (25, 14)])
    stream.files["depth"][1].write_bytes(stream.files["depth"][0].read_bytes())
    with pytest.warns(UserWarning, match=r"/rgb/01 \(its maps differ in size: rgb 25x14, depth 11x30\)$"):
        fields = stream.fetch(torch.tensor([1, 0])).fields
    assert "extent" not in fields
    assert fields["depth"].shape == (1, 1, 11, 30)


def test_files_of_one_field_have_one_type_and_shape(tmp_path):
    def growing(data):
        return torch.zeros(int(data) + 1)

    stream = Stream("x", {"n": numbered(tmp_path, 3)}, decoders={"n": growing})
    with pytest.raises(
        ValueError, match=r"field 'n' decode to .* \[2\] and .* \[3\]: one batch wants one type"
    ):
        stream.fetch(torch.tensor([1, 2]))


class StandIn:
    """Decodes JPEGs by the batch on the CPU, and refuses batches with certain pictures."""

    def __init__(self, refuses=(), reason="nvjpeg says no"):
        self.calls, self.refuses, self.reason = [], refuses, reason

    def __call__(self, jpegs):
        self.calls.append(len(jpegs))
        decoded = [bytes(jpeg.tolist()) for jpeg in jpegs]
        if set(decoded) & set(self.refuses):
            raise RuntimeError(self.reason)
        return [by_pillow(data) for data in decoded]


def test_jpegs_are_decoded_by_the_batch_and_what_is_no_plain_jpeg_is_not(tmp_path):
    small = encoded(drawn(3, 8, 8), "JPEG")
    cut = encoded(drawn(), "JPEG", comment=small)[:-30]  # a thumbnail has an end, the picture has lost it
    kinds = [
        KINDS[kind]() for kind in ("jpeg", "cmyk jpeg", "grey jpeg", "png", "progressive jpeg", "rgb jpeg")
    ]
    for data in (kinds[1], kinds[5]):  # need not say how their colours are stored
        marker = data.index(b"\xff\xee")
        kinds.append(data[:marker] + data[marker + 16 :])
    together = StandIn()
    stream = Stream("x", {"rgb": written(tmp_path, [*kinds, cut])}, together=together, tolerate=0.5)
    with pytest.warns(UserWarning, match=r"/0008 \(image file is truncated"):
        sample = stream.fetch(torch.arange(9))
    assert together.calls == [3]
    assert sample.index.tolist() == list(range(8))
    for values, data in zip(sample.fields["rgb"], kinds, strict=True):
        assert (values.int() - by_pillow(data).int()).abs().max() <= 2


def test_a_complete_jpeg_with_a_thumbnail_goes_with_the_batch(tmp_path):
    whole = encoded(drawn(), "JPEG", comment=encoded(drawn(3, 8, 8), "JPEG")) + bytes(9)
    together = StandIn()
    Stream("x", {"rgb": written(tmp_path, [whole])}, together=together).fetch(torch.tensor([0]))
    assert together.calls == [1]


@pytest.mark.parametrize(("transform", "suits"), [(0, False), (1, True)])
def test_colours_that_are_stored_as_they_are_do_not_suit_the_device(transform, suits):
    data = KINDS["jpeg"]()
    adobe = b"\xff\xee\x00\x0eAdobe\x00\x64" + bytes(4) + bytes([transform])
    assert goes_together(data[:2] + adobe + data[20:], 10**6) == suits  # in the place of JFIF's marker


@pytest.mark.parametrize(("frame", "bits"), [(b"\xff\xc0", 12), (b"\xff\xc9", 8)])
def test_other_codes_and_more_bits_do_not_suit_the_device(frame, bits):
    data = KINDS["jpeg"]()
    place = data.index(b"\xff\xc0")
    assert not goes_together(
        data[:place] + frame + data[place + 2 : place + 4] + bytes([bits]) + data[place + 5 :], 10**6
    )


def test_a_damaged_header_is_left_to_the_workers():
    data, dice = KINDS["jpeg"](), torch.Generator().manual_seed(3)
    assert goes_together(data, HEIGHT * WIDTH)
    assert not goes_together(data, HEIGHT * WIDTH - 1)
    assert not goes_together(b"no" + data[2:], 10**6)
    assert not any(goes_together(data[:size], 10**6) for size in range(len(data)))
    for place in torch.randint(2, 620, (3000,), generator=dice).tolist():  # must not fail, whatever it says
        goes_together(data[:place] + b"\xff\xc0\x00" + data[place + 3 :], 10**6)


def test_of_a_batch_that_cannot_be_decoded_the_culprits_are_found(tmp_path, monkeypatch):
    jpegs = pictures(13, "JPEG")
    spoilt = jpegs[9][:-60] + b"\xff\xd9"  # looks complete, and is not
    jpegs[9] = spoilt
    together = StandIn(refuses=[jpegs[2], spoilt])
    stream = Stream("x", {"rgb": written(tmp_path, jpegs)}, together=together, tolerate=0.5)
    alone = []

    def picky(data, pixels, side):
        alone.append(data)
        if data == spoilt:
            raise OSError("it is spoilt")
        return decode_picture(data, pixels, side)

    monkeypatch.setattr("coview.data.stream.stream.decode_picture", picky)
    with pytest.warns(UserWarning, match=r"/0009 \(it is spoilt\)$"):
        sample = stream.fetch(torch.arange(13))
    assert sample.index.tolist() == [*range(9), *range(10, 13)]
    assert alone == [jpegs[2], spoilt]
    assert len(together.calls) <= 1 + 4 * 4
    for values, number in zip(sample.fields["rgb"], sample.index.tolist(), strict=True):
        assert (values.int() - by_pillow(jpegs[number]).int()).abs().max() <= 2


def test_a_full_memory_is_not_taken_for_a_broken_file(tmp_path):
    jpegs = pictures(3, "JPEG")
    together = StandIn(refuses=jpegs, reason="CUDA out of memory")
    with pytest.raises(RuntimeError, match="out of memory"):
        Stream("x", {"rgb": written(tmp_path, jpegs)}, together=together).fetch(torch.arange(3))
    assert together.calls == [3]


def test_where_the_device_decodes_nothing_the_workers_do(monkeypatch):
    def refuse(jpegs, device):
        assert by_pillow(bytes(jpegs[0].tolist())).shape == (3, 16, 32)
        raise RuntimeError("not compiled\n  with nvJPEG")

    assert device_decoder(torch.device("cpu")) is None
    monkeypatch.setattr(module, "_decode_jpegs", refuse)
    with pytest.warns(UserWarning, match=r"^JPEGs cannot be decoded on cuda:3 \(not compiled with nvJPEG\)"):
        assert device_decoder.__wrapped__(torch.device("cuda", 3)) is None
    monkeypatch.setattr(module, "_decode_jpegs", lambda jpegs, device: [device] * len(jpegs))
    decode = device_decoder.__wrapped__(torch.device("cuda", 3))
    assert decode([as_tensor(JPEG)]) == [torch.device("cuda", 3)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"files": {}}, "'x' has no samples: give at least one field"),
        ({"files": {"rgb": []}}, "'x' has no samples"),
        ({"files": {"rgb": ["a", "b"], "depth": ["c"]}}, "came with field 'rgb' 2, field 'depth' 1$"),
        ({"label": torch.arange(3)}, "field 'rgb' 2, label 3$"),
        ({"present": {"ab": torch.ones(4, dtype=torch.bool)}}, "field 'rgb' 2, present 'ab' 4$"),
        ({"decoders": {"rbg": depth_of}}, "decoder for 'rbg', but its fields are rgb .did you mean 'rgb'"),
        ({"files": {"extent": ["a", "b"]}}, "a field cannot be called 'extent'"),
        ({"workers": 0}, "workers counts from 1, got 0"),
        ({"ahead": 0}, "ahead counts from 1, got 0"),
    ],
)
def test_settings_that_make_no_dataset(changes, message):
    with pytest.raises(ValueError, match=message):
        Stream(**{"name": "x", "files": {"rgb": ["a", "b"]}, **changes})


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_on_cuda_pictures_are_nearly_those_of_the_cpu(tmp_path):
    kinds = ("jpeg", "cmyk jpeg", "grey jpeg", "png", "progressive jpeg", "16 bits")
    contents = [KINDS.get(kind, KINDS["grey png"])() for kind in kinds]
    contents = [*contents, KINDS["jpeg"]()[:-40], *pictures(40, "JPEG")]
    here = Stream("x", {"rgb": written(tmp_path, contents)}, torch.arange(47), tolerate=0.5)
    there = here.subset(torch.arange(47)).to("cuda")
    order = list(torch.randperm(47).split(9))
    with pytest.warns(UserWarning, match=r"^1 of 47 samples .*/0006 \(image file is truncated") as warned:
        batches = list(zip(here.epoch(order), there.epoch(order), strict=True))
    assert len(warned) == 2
    for near, far in batches:
        assert {tensor.device for tensor in chain(far.fields.values(), [far.index, far.label])} == {
            there.device
        }
        assert torch.equal(near.index, far.index.cpu())
        assert torch.equal(near.label, far.label.cpu())
        difference = (near.fields["rgb"].float() - far.fields["rgb"].cpu().float()).abs()
        assert difference.mean((1, 2, 3)).max() < 3
