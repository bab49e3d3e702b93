"""Weights of the paper's released two-view code, key by key, as encoders of this package.

Its files hold "model" (halves called l_to_ab and ab_to_l) and "contrast" (memory_l, memory_ab).
"""

import argparse
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coview.encoders import ResNet, imagenet_half
from coview.files import in_a_line
from coview.trained.model import Model
from coview.training import describe
from coview.views import centre_crop, chroma, lightness

HALVES = {"L": "l_to_ab", "ab": "ab_to_l"}
VIEWS = {"L": lightness, "ab": chroma}
MEMORY = {"L": "memory_l", "ab": "memory_ab"}
DEPTHS: dict[tuple[int, ...], int] = {(2, 2, 2, 2): 18, (3, 4, 6, 3): 50, (3, 4, 23, 3): 101}
SIDE = 224

State = Mapping[str, Tensor]


@dataclass(frozen=True)
class Released:
    """The two encoders of a released file, and its memory [N D] by view where it holds one."""

    model: Model
    memory: dict[str, Tensor]
    epoch: int | None = None


def read_released(file: Path) -> Released:
    """Read a file of the released code: an AlexNet, or a ResNet of any width."""
    stored = _load(file)
    halves = {view: _half(stored.get("model", stored), name) for view, name in HALVES.items()}
    lacking = [HALVES[view] for view, half in halves.items() if not half]
    if lacking:
        raise ValueError(
            f"{file} holds no weights of '{lacking[0]}': it is no file of the released two-view code"
        )
    makers = {view: _maker(half, file) for view, half in halves.items()}
    encoders = nn.ModuleDict({view: make() for view, make in makers.items()})
    for view, half in halves.items():
        encoders[view].load_state_dict(_translated(half, file))
    still = partial(centre_crop, size=SIDE)
    record = {"views": describe(VIEWS), "encoders": describe(makers), "still": describe(still)}
    model = Model(file.stem, VIEWS, encoders.eval(), still, {}, None, record)
    return Released(model, _memory(stored), stored.get("epoch"))


def _load(file: Path) -> dict[str, Any]:
    """What a file holds; only tensors, numbers and the namespace of its options may be in it."""
    if not file.is_file():
        raise FileNotFoundError(f"no file {file}")
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            stored = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # of torch, for bytes that are none of its own
        raise ValueError(f"{file} cannot be read as weights of PyTorch: {in_a_line(error)}") from error
    if not isinstance(stored, dict):
        raise ValueError(f"{file} should hold a dictionary of weights, came: {type(stored).__name__}")
    return stored


def _half(state: State, name: str) -> dict[str, Tensor]:
    """The weights of one half, whatever they are wrapped in: encoder., module., or both."""
    found = {}
    for key, value in state.items():
        before, separator, after = key.partition(f"{name}.")
        if separator and re.fullmatch(r"(encoder\.|module\.)*", before):
            found[after] = value
    return found


def _maker(half: State, file: Path) -> partial:
    """The encoder that the weights belong to, by their shapes."""
    if "conv_block_1.0.weight" in half:
        width, channels = half["conv_block_1.0.weight"].shape[:2]
        return partial(imagenet_half, int(channels), dim=len(half["fc8.0.weight"]), width=int(width) / 48)
    if "conv1.weight" in half and "layer1.0.conv1.weight" in half:
        counts = tuple(_blocks(half, stage) for stage in range(1, 5))
        depth = DEPTHS.get(counts)
        if depth == 50 and "layer1.0.conv3.weight" not in half:
            depth = 34
        if depth is None:
            raise ValueError(
                f"{file} holds a ResNet of {counts} blocks: known are {', '.join(map(str, DEPTHS))}"
            )
        planes, channels = len(half["layer1.0.conv1.weight"]), half["conv1.weight"].shape[1]
        return partial(ResNet, int(channels), depth=depth, width=planes / 64, dim=len(half["fc.weight"]))
    raise ValueError(
        f"{file} holds neither an AlexNet nor a ResNet of the released code: {', '.join(list(half)[:3])}"
    )


def _blocks(half: State, stage: int) -> int:
    return len({key.split(".")[1] for key in half if key.startswith(f"layer{stage}.")})


def _translated(half: State, file: Path) -> dict[str, Tensor]:
    """The same weights under the names of this package."""
    names = _alexnet_names(half) if "conv_block_1.0.weight" in half else _resnet_names(half)
    found = {ours: half[theirs] for theirs, ours in names}
    unknown = set(half) - {theirs for theirs, _ in names} - {"fc6.0.bias", "fc7.0.bias"}
    if unknown:
        raise ValueError(f"{file} holds weights that have no place here: {', '.join(sorted(unknown)[:3])}")
    for layer in ("fc6", "fc7"):
        bias = half.get(f"{layer}.0.bias")
        if bias is not None:  # ours has none before a batch norm: that one's mean takes it in
            found[f"vectors.{layer}.1.running_mean"] = found[f"vectors.{layer}.1.running_mean"] - bias
    return found


def _alexnet_names(half: State) -> list[tuple[str, str]]:
    names = []
    for key in half:
        layer, rest = key.split(".", 1)
        if layer.startswith("conv_block_"):
            names.append((key, f"maps.conv{layer[-1]}.{rest}"))
        elif layer in ("fc6", "fc7") and rest != "0.bias":
            names.append((key, f"vectors.{layer}.{rest}"))
        elif layer == "fc8":
            names.append((key, f"embedding.{rest.removeprefix('0.')}"))
    return names


def _resnet_names(half: State) -> list[tuple[str, str]]:
    return [(key, ours) for key in half for ours in _resnet_name(key)]


def _resnet_name(key: str) -> Iterator[str]:
    """conv and batch norm number n of a block are places 3(n - 1) and 3(n - 1) + 1 of its path."""
    if (stem := re.fullmatch(r"(conv|bn)1\.(.+)", key)) is not None:
        yield f"layers.stem.{0 if stem[1] == 'conv' else 1}.{stem[2]}"
    elif (block := re.fullmatch(r"(layer\d\.\d+)\.(conv|bn)(\d)\.(.+)", key)) is not None:
        place = 3 * (int(block[3]) - 1) + (block[2] == "bn")
        yield f"layers.{block[1]}.path.{place}.{block[4]}"
    elif (shortcut := re.fullmatch(r"(layer\d\.\d+)\.downsample\.(.+)", key)) is not None:
        yield f"layers.{shortcut[1]}.shortcut.{shortcut[2]}"
    elif key.startswith("fc."):
        yield f"embedding.{key.removeprefix('fc.')}"


def _memory(stored: Mapping[str, Any]) -> dict[str, Tensor]:
    contrast = stored.get("contrast", {})
    found = {view: contrast.get(name) for view, name in MEMORY.items()}
    return {view: rows for view, rows in found.items() if isinstance(rows, Tensor)}
