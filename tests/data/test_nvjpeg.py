"""JPEGs by the batch: which are taken, where their pictures are written, and what happens to the others."""

import ctypes
import io
from contextlib import suppress

import numpy as np
import pytest
import torch
from PIL import Image

from coview.data.stream import decode_picture
from coview.data.stream.nvjpeg import BACKENDS, Batched, NvJpeg, loaded_library
from coview.data.stream.picture import as_tensor, torchvision_operators
from coview.data.stream.together import _decode_jpegs, device_decoder

CPU = torch.device("cpu")


def jpeg(number: int, height: int, width: int, mode: str = "RGB", **settings) -> torch.Tensor:
    rows, columns = np.mgrid[:height, :width]
    channels = (rows * 2 + number * 11, columns + 30, rows + columns + number * 7)
    picture = Image.fromarray(np.stack(channels, -1).clip(0, 255).astype(np.uint8)).convert(mode)
    file = io.BytesIO()
    picture.save(file, "JPEG", **{"quality": 92, **settings})
    return as_tensor(file.getvalue())


def alone(data: torch.Tensor) -> torch.Tensor:
    return decode_picture(bytes(data.tolist()))


class Library(NvJpeg):
    """In the place of nvJPEG: takes pictures wider than 20, and writes where it is told to."""

    def __init__(self) -> None:
        self.batches = []

    def size(self, jpeg):
        height, width = alone(jpeg).shape[1:]
        return (height, width) if width > 20 else None

    def decode(self, jpegs, planes, widths):
        self.batches.append(len(jpegs))
        for data, addresses, width in zip(jpegs, planes.tolist(), widths.tolist(), strict=True):
            picture = alone(data)
            assert picture.shape[2] == width
            for plane, address in zip(picture, addresses, strict=True):
                ctypes.memmove(address, plane.contiguous().data_ptr(), plane.numel())


def test_pictures_of_any_size_come_in_order_and_others_go_elsewhere():
    sizes = [(9, 31), (14, 12), (33, 21), (8, 8), (9, 31), (1, 57)]
    jpegs = [jpeg(number, *size) for number, size in enumerate(sizes)]
    library, elsewhere = Library(), []

    def otherwise(some):
        elsewhere.append(len(some))
        return [alone(one) for one in some]

    decode = Batched(library, CPU, otherwise)
    for _ in range(2):
        for found, one in zip(decode(jpegs), jpegs, strict=True):
            assert torch.equal(found, alone(one))
    assert library.batches == [4, 4]
    assert elsewhere == [2, 2]
    assert [tuple(one.shape) for one in decode(jpegs[1:2])] == [(3, 14, 12)]
    assert library.batches == [4, 4]  # nothing was for it


def test_what_goes_wrong_is_left_to_the_caller():
    class Refusing(Library):
        def decode(self, jpegs, planes, widths):
            raise RuntimeError("nvJPEG: a picture cannot be decoded (status 3)")

    decode = Batched(Refusing(), CPU, lambda jpegs: [])
    with pytest.raises(RuntimeError, match="status 3"):
        decode([jpeg(0, 9, 31)])
    assert not decode.lock.locked()


def test_the_library_of_torchvision_is_found_where_it_has_been_loaded(tmp_path, monkeypatch):
    torchvision_operators()
    found = loaded_library()
    assert found is None or "libnvjpeg" in found
    maps = tmp_path / "maps"
    monkeypatch.setattr("coview.data.stream.nvjpeg.MAPPED", maps)
    assert loaded_library() is None
    maps.write_text(
        "7f-8f r-xp 0 08:01 7   /x/libjpeg.so.8\n7f-8f r-xp 0 08:01 9   /x y/libs/libnvjpeg.3ab.so.13\n"
    )
    assert loaded_library() == "/x y/libs/libnvjpeg.3ab.so.13"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("backend", BACKENDS)
def test_on_cuda_it_gives_the_pictures_of_torchvision(backend):
    device = device_decoder_place()
    path = loaded_library()
    assert path is not None
    try:
        library = NvJpeg(path, backend)
    except RuntimeError as error:
        pytest.skip(str(error))
    left = []

    def otherwise(some):
        left.extend(some)
        return _decode_jpegs(some, device)

    decode = Batched(library, device, otherwise)
    plain = [jpeg(n, 60 + 7 * n, 90 + 5 * n, subsampling=n % 3) for n in range(29)]
    odd = [
        jpeg(0, 64, 80, "L"),
        jpeg(1, 64, 80, progressive=True),
        jpeg(2, 5, 7),
        jpeg(3, 64, 80, restart_marker_rows=1),
    ]
    for batch in (plain, plain[:3], plain[5:6], odd + plain[:2], plain):
        for found, expected in zip(decode(batch), _decode_jpegs(batch, device), strict=True):
            assert found.shape == expected.shape
            assert (found.float() - expected.float()).abs().mean() < 2
    assert any(one is odd[0] for one in left)
    assert not any(one is two for one in left for two in plain)
    broken = plain[0][:-400].clone()
    with suppress(RuntimeError):  # it may also be decoded, as far as it goes
        decode([*plain[1:4], broken])
    for found, expected in zip(decode(plain[:3]), _decode_jpegs(plain[:3], device), strict=True):
        assert (found.float() - expected.float()).abs().mean() < 2


def device_decoder_place() -> torch.device:
    """The device, with the decoders loaded."""
    device = torch.device("cuda", torch.cuda.current_device())
    assert device_decoder(device) is not None
    return device
