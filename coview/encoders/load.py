"""Encoders from a folder that `coview export` wrote: plain modules, without anything that trains."""

import importlib
import json
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from torch import nn

from coview.files import in_a_line

CONFIG, WEIGHTS = "config.json", "model.safetensors"
FORMAT = "coview encoders 1"
OURS = ("coview.encoders", "coview.views")  # modules whose functions a file may name


def load_encoders(folder: str | PathLike[str]) -> nn.ModuleDict:
    """One module per view, with its trained weights, ready to encode."""
    try:
        from safetensors.torch import load_file
    except ImportError as error:
        raise ModuleNotFoundError(
            "exported encoders need safetensors: pip install 'coview[export]'"
        ) from error
    place = Path(folder)
    config = read_config(place)
    if not (place / WEIGHTS).is_file():
        raise FileNotFoundError(f"{place} holds no exported encoders: it has no {WEIGHTS}")
    try:
        encoders = nn.ModuleDict({view: rebuild(one)() for view, one in config["encoders"].items()})
        encoders.load_state_dict(load_file(place / WEIGHTS))
    except ValueError:
        raise
    except Exception as error:  # of torch and of safetensors, for what does not fit or is damaged
        raise ValueError(f"the encoders in {place} cannot be loaded: {in_a_line(error)}") from error
    return encoders.eval()


def read_config(folder: Path) -> dict[str, Any]:
    """What a folder says of its encoders."""
    path = folder / CONFIG
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no exported encoders: it has no {CONFIG}")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise ValueError(f"{path} was not written by `coview export`: wanted the format '{FORMAT}'")
    return config


def rebuild(description: Any) -> Any:
    """A function with its arguments, from the name and the values that were written down.

    Only encoders and views of this package are made: a file from elsewhere cannot call anything else.
    """
    if isinstance(description, str):
        return _named(description)
    if not isinstance(description, dict) or "call" not in description:
        raise ValueError(f"wanted the name of a function and its arguments, got {description!r}")
    values = {name: _plain(value) for name, value in description.items() if name != "call"}
    places = sorted((name for name in values if name.startswith("argument")), key=lambda name: int(name[8:]))
    positional = [values.pop(name) for name in places]
    return partial(_named(description["call"]), *positional, **values)


def _named(dotted: str) -> Any:
    module, _, name = dotted.rpartition(".")
    if not module.startswith(OURS):
        raise ValueError(
            f"'{dotted}' is not part of this package and cannot be made from a file alone: use the exported programs "
            "(.pt2, .onnx), or make it yourself and load the weights"
        )
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"this version of coview has no '{dotted}'") from error
    if not callable(found) or not str(getattr(found, "__module__", "")).startswith(OURS):
        raise ValueError(f"'{dotted}' is neither an encoder nor a view of this package")
    return found


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, list) else value
