"""Pictures in files: read into memory where they fit and have one size, else left to stream from the disk."""

from dataclasses import replace
from functools import partial

import torch
from jaxtyping import UInt8
from torch import Tensor

from coview.data.images.square import square
from coview.data.resident import Resident
from coview.data.stream import Stream, decode_picture
from coview.data.stream.broken import BrokenFiles
from coview.data.stream.picture import BROKEN, PIXELS, open_image
from coview.data.stream.stack import EXTENT

KEEP = ("auto", "always", "never")
LIMIT = 8 * 2**30  # bytes that "auto" keeps in memory: 100,000 pictures of 96x96 take 2.8 GB
LOOKED_AT = 64  # files whose headers tell whether all have one size
BATCH = 512


def load(
    stream: Stream, *, side: int | None = None, resident: str = "auto", limit: int = LIMIT
) -> Resident | Stream:
    """In memory if "auto" and the pictures have one size and fit into `limit` bytes, or if "always"; else as they are.

    With `side` each becomes the square in its middle, so many pixels wide, and all have one size.
    """
    if side is not None:
        stream = replace(stream, decoders={"rgb": partial(decode_square, side=side)})
    sizes = {(side, side)} if side is not None else picture_sizes(stream)
    fits = len(sizes) == 1 and len(stream) * 3 * min(sizes)[0] * min(sizes)[1] <= limit
    if resident == "never" or (resident == "auto" and not fits):
        return stream
    found = _read(stream) if len(sizes) < 2 else None
    if found is None and resident == "always":
        raise ValueError(
            f"the pictures of dataset '{stream.name}' differ in size: give side=, or let them stream"
        )
    return stream if found is None else found


def picture_sizes(stream: Stream) -> set[tuple[int, int]]:
    """Heights and widths of some of the files, spread over the dataset; broken ones have none."""
    paths = stream.files["rgb"]
    looked_at = range(0, len(paths), max(1, len(paths) // LOOKED_AT))
    return {size for number in looked_at if (size := _size(paths[number])) is not None}


def decode_square(data: bytes, *, side: int) -> UInt8[Tensor, "3 S S"]:
    """A picture file as a square of so many pixels."""
    return square(decode_picture(data), side)


def _read(stream: Stream) -> Resident | None:
    """Every picture that is not broken, in one tensor; None where one differs in size from the first."""
    pixels, kept, full = None, [], 0
    for sample in stream.batches(BATCH):
        rgb = sample.fields["rgb"]
        if pixels is None:
            pixels = torch.empty(len(stream), *rgb.shape[1:], dtype=torch.uint8)
        if EXTENT in sample.fields or rgb.shape[1:] != pixels.shape[1:]:
            return None
        pixels[full : full + len(rgb)] = rgb
        full += len(rgb)
        kept.append(sample.index)
    if pixels is None:
        raise BrokenFiles(f"every picture of dataset '{stream.name}' is broken")
    label = None if stream.label is None else stream.label[torch.cat(kept)]
    return Resident(stream.name, {"rgb": pixels[:full]}, label, stream.classes)


def _size(path) -> tuple[int, int] | None:
    try:
        with open(path, "rb") as file:
            image = open_image(file.read(), PIXELS)
    except BROKEN:
        return None
    return image.height, image.width
