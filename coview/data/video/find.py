"""Clips below a folder: video files, packed clips and folders of frames, by their path without suffix."""

import os
from pathlib import Path

from coview.data.video.decode import PICTURES, VIDEOS, Clip, FrameFolder, VideoFile
from coview.data.video.pack import Pack


def clips_below(folder: Path) -> dict[str, Path]:
    """Every clip by its name: where it is below the folder, without suffix."""
    if not folder.is_dir():
        raise FileNotFoundError(f"no folder {folder}")
    found: dict[str, Path] = {}
    for place, folders, files in os.walk(folder):
        folders.sort()
        here = Path(place)
        if here != folder and any(_is(name, PICTURES) for name in files):
            found[str(here.relative_to(folder))] = here
            folders.clear()
            continue
        for name in sorted(files):
            if _is(name, (*VIDEOS, ".zip")):
                path = here / name
                found[str(path.relative_to(folder).with_suffix(""))] = path
    return found


def open_clip(path: Path) -> Clip:
    """A clip of any of the kinds that there are."""
    if path.is_dir():
        return FrameFolder(path)
    return Pack(path) if path.suffix == ".zip" else VideoFile(path)


def _is(name: str, suffixes: tuple[str, ...]) -> bool:
    return name.lower().endswith(suffixes) and not name.startswith(".")
