"""One file at a time: bits, channels and what is no file of ours."""

import io

import numpy as np
import pytest
import tifffile
import torch
from PIL import Image
from toy_files import picture

from coview.data.own import readers
from coview.data.own.readers import decode_values, read_values

COLOUR, GREY = picture(3), picture(4, channels=1)


def encoded(values: np.ndarray, kind: str, **options) -> bytes:
    file = io.BytesIO()
    Image.fromarray(values).save(file, kind, **options)
    return file.getvalue()


def tiff(values: np.ndarray, **options) -> bytes:
    file = io.BytesIO()
    tifffile.imwrite(file, values, **options)
    return file.getvalue()


def array(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def first(values: np.ndarray) -> np.ndarray:
    return values.transpose(2, 0, 1)


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (encoded(COLOUR, "PNG"), first(COLOUR)),
        (encoded(GREY, "PNG"), GREY[None]),
        (encoded(GREY > 90, "PNG"), (GREY[None] > 90).astype(np.uint8) * 255),
        (encoded(GREY.astype(np.uint16) * 200, "PNG"), GREY[None].astype(np.float32) * 200),
        (encoded(GREY.astype(np.float32) / 3, "TIFF"), GREY[None].astype(np.float32) / 3),
        (tiff(GREY.astype(np.float32) / 3), GREY[None].astype(np.float32) / 3),
        (tiff(COLOUR.astype(np.uint16) * 9), first(COLOUR).astype(np.float32) * 9),
        (
            tiff(first(COLOUR)[[0, 1, 2, 0, 1]].copy(), photometric="minisblack"),
            first(COLOUR)[[0, 1, 2, 0, 1]],
        ),
        (array(GREY[0].astype(np.float64)), GREY[0].astype(np.float32)),
        (array(COLOUR.astype(np.int16) - 40), first(COLOUR).astype(np.float32) - 40),
        (array(GREY), GREY[None]),
    ],
    ids=["colour", "grey", "bits", "16", "float", "tifffile", "16-colour", "five", "vector", "last", "plane"],
)
def test_values_come_out_as_they_went_in(data, wanted):
    found = read_values(data)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_png_of_16_bit_colour_keeps_its_bits():
    """Pillow cannot write one, so it is put together by hand."""
    import struct
    import zlib

    values = (COLOUR.astype(np.uint16) * 257 - np.arange(14)[:, None] * 3).astype(">u2")

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + row.tobytes() for row in values)
    head = struct.pack(">IIBBBBB", 14, 10, 16, 2, 0, 0, 0)
    data = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
    np.testing.assert_array_equal(read_values(data), first(values).astype(np.float32))


def test_transparency_is_left_aside():
    clear = np.concatenate([COLOUR, GREY[..., None]], -1)
    np.testing.assert_array_equal(read_values(encoded(clear, "PNG")), first(COLOUR))


def test_a_map_is_brought_to_a_side_with_its_numbers():
    values = decode_values(tiff(np.full((9, 15), 7.25, dtype=np.float32)), side=6)
    assert values.shape == (1, 6, 6)
    torch.testing.assert_close(values, torch.full((1, 6, 6), 7.25))
    assert decode_values(encoded(COLOUR, "PNG"), side=6).dtype == torch.uint8
    assert decode_values(array(GREY[0].astype(np.float32)), side=6).shape == (14,)


def test_shrinking_averages():
    stripes = np.tile(np.array([0.0, 10.0], dtype=np.float32), (12, 6))
    values = decode_values(tiff(stripes), side=3)
    torch.testing.assert_close(values, torch.full((1, 3, 3), 5.0), atol=1.1, rtol=0)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"hello there, this is text", "not a picture"),
        (encoded(COLOUR, "PNG")[:60], "."),
        (array(GREY.astype(complex)), "real numbers"),
        (array(np.zeros((2, 2, 2, 2))), "got an array of shape"),
    ],
)
def test_what_is_no_view_says_why(data, words):
    with pytest.raises((ValueError, OSError), match=words):
        read_values(data)


def test_without_tifffile_pillow_reads_what_it_can(monkeypatch):
    monkeypatch.setattr(readers, "_tifffile", lambda: None)
    data = tiff(GREY.astype(np.float32))
    np.testing.assert_array_equal(read_values(data), GREY[None].astype(np.float32))
    five = tiff(np.zeros((5, 6, 7), dtype=np.float64), photometric="minisblack", planarconfig="contig")
    with pytest.raises(ValueError, match=r"needs tifffile: pip install 'coview\[own\]'"):
        read_values(five)
