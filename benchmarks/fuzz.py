"""Every reader of files from elsewhere, fed with damaged files for so many seconds: no crash, no undocumented error.

    python benchmarks/fuzz.py --seconds 600 --json results/fuzz/atheris.json    # where atheris is: the extra fuzz
    python benchmarks/fuzz.py --seconds 600 --engine edits --json results/fuzz/edits.json
    python benchmarks/fuzz.py --seconds 60 --only shard

Each reader runs in a process of its own with a limit of memory, so that a crash of one stops no other. What broke one
is kept in the folder `--keep`. The readers, with whole files to start from, are those of `tests/readers.py`.
"""

import argparse
import hashlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [
    str(ROOT / "tests"),
    str(ROOT / "tests/data"),
    str(ROOT),
]  # this copy, not one that is installed
MEMORY = 12 * 2**30  # bytes of address space a process may take
SLOW = 10.0  # seconds for one file
PATIENCE = 120.0  # seconds more than its time after which a process is killed: a file that hangs is a fault
LARGE = 65_536  # bytes of a file made by atheris, or as many as the largest whole one has
INSTRUMENTED = ["coview", "PIL", "tarfile", "zipfile", "json", "numpy.lib", "tifffile"]


def main() -> None:
    options = read_options()
    if options.one:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        (by_atheris if options.engine == "atheris" else by_edits)(options)
        return
    from readers import READERS

    names = [reader.name for reader in READERS if any(word in reader.name for word in options.only)]
    each = options.seconds / len(names)
    print(f"{len(names)} readers, {each:.1f} s each, by {options.engine}", flush=True)
    found = [run(name, each, options) for name in names]
    failed = sum(row["fault"] is not None for row in found)
    if options.json:
        head = {"engine": options.engine, "seconds": options.seconds, "seed": options.seed}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps({**head, "readers": found}, indent=1) + "\n")
    end = f"{failed} readers failed: see {options.keep}" if failed else "no crash, no undocumented error"
    print(f"{sum(row['files'] for row in found):,} files, {end}")
    sys.exit(failed > 0)


def read_options() -> argparse.Namespace:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--seconds", type=float, default=600.0, help="for all readers together")
    parser.add_argument("--engine", choices=("atheris", "edits"), default=best_engine())
    parser.add_argument("--only", nargs="*", default=[""], help="readers with one of these in their name")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="a file for what was measured")
    parser.add_argument("--keep", type=Path, default=Path("fuzzed"), help="a folder for what broke a reader")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def best_engine() -> str:
    return "atheris" if find_spec("atheris") else "edits"


def run(name: str, seconds: float, options: argparse.Namespace) -> dict[str, Any]:
    """A reader in a process of its own, and what came of it."""
    command = [sys.executable, __file__, "--one", name, "--seconds", str(seconds)]
    command += ["--engine", options.engine, "--seed", str(options.seed), "--keep", str(options.keep)]
    most = seconds + PATIENCE
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=most, check=False
        )
    except subprocess.TimeoutExpired:
        done = subprocess.CompletedProcess(
            command, -1, "", f"TimeoutError: not at its end after {most:.0f} s"
        )
    row = next((json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"files"')), None)
    if done.returncode == 0 and row is not None:
        row = {"reader": name, **row, "fault": None}
    else:
        said = [line for line in done.stderr.splitlines() if "Error" in line or "ERROR" in line]
        row = {"reader": name, "files": 0, "good": 0, "slowest": 0.0, "fault": " | ".join(said[-3:])[:300]}
        row["fault"] = row["fault"] or f"ended with {done.returncode}"
    print(
        f"{name:<22} {row['files']:>9,} files, {row['good']:>9,} still good, slowest {row['slowest']:.2f} s"
        f"{'' if row['fault'] is None else '  FAILED: ' + row['fault']}",
        flush=True,
    )
    return row


class Count:
    """How many files a reader was given, until its time is over."""

    def __init__(self, reader: Callable[[bytes], bool], seconds: float) -> None:
        self.reader, self.seconds, self.end = reader, seconds, 0.0
        self.files, self.good, self.slowest = 0, 0, 0.0

    def __call__(self, data: bytes) -> bool:
        """Read a file; whether there is time for another."""
        started = time.monotonic()
        self.end = self.end or started + self.seconds
        self.good += self.reader(data)
        self.files += 1
        now = time.monotonic()
        self.slowest = max(self.slowest, now - started)
        if now - started > SLOW:
            raise TimeoutError(f"TimeoutError: {len(data)} bytes took more than {SLOW} s")
        return now < self.end

    def say(self) -> None:
        found = {"files": self.files, "good": self.good, "slowest": round(self.slowest, 3)}
        print(json.dumps(found), flush=True)


def by_atheris(options: argparse.Namespace) -> None:
    """Guided by which lines of Python a file reaches: ours, and those of the libraries that parse."""
    import atheris

    with atheris.instrument_imports(include=INSTRUMENTED):
        import readers
    reader = next(one for one in readers.READERS if one.name == options.one)
    count = Count(reader, options.seconds)
    options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        whole = list(reader.files())
        for number, data in enumerate(whole):
            (Path(corpus) / str(number)).write_bytes(data)
        most = max(LARGE, *map(len, whole), 0)

        def read(data: bytes) -> None:
            if not count(bytes(data)):
                count.say()
                os._exit(0)

        prefix = f"{options.keep}/{options.one.replace(' ', '-')}-"
        settings = [f"-seed={options.seed + 1}", f"-timeout={int(SLOW)}", f"-artifact_prefix={prefix}"]
        settings += ["-rss_limit_mb=8192", f"-max_len={most}", "-verbosity=0"]
        atheris.Setup([sys.argv[0], corpus, *settings], read)
        atheris.Fuzz()  # ends the process


def by_edits(options: argparse.Namespace) -> None:
    """Whole files with random stretches replaced, cut or doubled."""
    import readers

    reader = next(one for one in readers.READERS if one.name == options.one)
    luck, whole, more = random.Random(options.seed), list(reader.files()), True
    count = Count(reader, options.seconds)
    while more:
        data = spoilt(luck, whole, readers.edited)
        name = f"{options.one.replace(' ', '-')}-{hashlib.sha1(data).hexdigest()[:12]}"
        options.keep.mkdir(parents=True, exist_ok=True)
        (options.keep / name).write_bytes(data)  # before it is read: a crash leaves no time
        more = count(data)
        (options.keep / name).unlink()
    count.say()


def spoilt(luck: random.Random, whole: list[bytes], edited: Callable[..., bytes]) -> bytes:
    data = luck.choice(whole)
    edits = [
        (
            luck.randrange(len(data) + 1),
            luck.choice([0, 1, 1, 2, 4, 8, 100]),
            luck.randbytes(luck.choice([0, 1, 1, 2, 4, 8])),
        )
        for _ in range(luck.choice([1, 1, 2, 3, 8]))
    ]
    data = edited(data, edits)
    if luck.random() < 0.2:
        data = data[: luck.randrange(len(data) + 1)]
    if luck.random() < 0.1:
        place = luck.randrange(len(data) + 1)
        data = data[:place] + data[luck.randrange(place + 1) :]
    return data


if __name__ == "__main__":
    main()
