"""Every reader of files from elsewhere, fed with damaged files for so many seconds: no crash, no undocumented error.

    python benchmarks/fuzz.py --seconds 600            # by atheris where it is installed (pip install atheris)
    python benchmarks/fuzz.py --seconds 60 --only shard --engine edits

Each reader runs in a process of its own with a limit of memory, so that a crash of one stops no other. What broke one
is kept in the folder `--keep`. The readers, with whole files to start from, are those of `tests/readers.py`.
"""

import argparse
import hashlib
import random
import resource
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
MEMORY = 12 * 2**30  # bytes of address space a process may take
SLOW = 10.0  # seconds for one file


def main() -> None:
    options = read_options()
    if options.one:
        run_one(options)
        return
    sys.path.insert(0, str(TESTS))
    from readers import READERS

    names = [reader.name for reader in READERS if options.only in reader.name]
    each, failures = options.seconds / len(names), 0
    print(f"{len(names)} readers, {each:.1f} s each, by {options.engine}", flush=True)
    for name in names:
        command = [sys.executable, __file__, "--one", name, "--seconds", str(each)]
        command += ["--engine", options.engine, "--seed", str(options.seed), "--keep", str(options.keep)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        failures += done.returncode != 0
        print(f"{name:<22} {outcome(done)}", flush=True)
    print(
        "no crash, no undocumented error"
        if not failures
        else f"{failures} readers failed; see {options.keep}"
    )
    sys.exit(failures > 0)


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="for all readers together")
    parser.add_argument("--engine", choices=("atheris", "edits"), default=best_engine())
    parser.add_argument("--only", default="", help="readers with this in their name")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--keep", type=Path, default=Path("fuzzed"), help="a folder for files that broke a reader"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    return parser.parse_args()


def best_engine() -> str:
    return "atheris" if find_spec("atheris") else "edits"


def outcome(done: subprocess.CompletedProcess) -> str:
    """What a process says of its reader, in a line."""
    if done.returncode == 0:
        lines = [
            line for line in (done.stdout + done.stderr).splitlines() if line.startswith(("Done ", "read "))
        ]
        return lines[-1] if lines else "ended"
    words = [
        line for line in done.stderr.splitlines() if "Error" in line or "ERROR" in line or "Exception" in line
    ]
    return f"FAILED ({done.returncode}): {' | '.join(words[-3:])[:300]}"


def run_one(options: argparse.Namespace) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    by = by_atheris if options.engine == "atheris" else by_edits
    by(options)


def by_atheris(options: argparse.Namespace) -> None:
    """Guided by which lines of Python a file reaches: ours, and those of the libraries that parse."""
    import atheris

    sys.path.insert(0, str(TESTS))
    with atheris.instrument_imports(include=["coview", "PIL", "tarfile", "zipfile", "json", "numpy.lib"]):
        import readers
    reader = next(one for one in readers.READERS if one.name == options.one)
    options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        for number, data in enumerate(reader.files()):
            (Path(corpus) / str(number)).write_bytes(data)
        arguments = [
            sys.argv[0],
            corpus,
            f"-max_total_time={max(int(options.seconds), 1)}",
            f"-seed={options.seed + 1}",
            f"-timeout={int(SLOW)}",
            f"-artifact_prefix={options.keep}/{options.one.replace(' ', '-')}-",
            "-rss_limit_mb=8192",
            "-max_len=65536",
            "-verbosity=0",
            "-print_final_stats=0",
        ]
        atheris.Setup(arguments, lambda data: reader(bytes(data)) and None)
        atheris.Fuzz()  # ends the process


def by_edits(options: argparse.Namespace) -> None:
    """Whole files with random stretches replaced, cut or doubled."""
    sys.path.insert(0, str(TESTS))
    import readers

    reader = next(one for one in readers.READERS if one.name == options.one)
    luck, whole, count, good = random.Random(options.seed), list(reader.files()), 0, 0
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        data = spoilt(luck, whole, readers.edited)
        started = time.monotonic()
        try:
            good += reader(data)
        except BaseException:
            options.keep.mkdir(parents=True, exist_ok=True)
            name = f"{options.one.replace(' ', '-')}-{hashlib.sha1(data).hexdigest()[:12]}"
            (options.keep / name).write_bytes(data)
            raise
        if time.monotonic() - started > SLOW:
            raise TimeoutError(f"TimeoutError: {len(data)} bytes took more than {SLOW} s")
        count += 1
    print(f"read {count:,} files, {good:,} of them still good")


def spoilt(luck: random.Random, whole: list[bytes], edited) -> bytes:
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
