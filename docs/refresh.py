"""Put numbers of runs into pages: `python docs/refresh.py runs/demo`, or `... performance`, `multiview`, `scale`."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coview.cli.sheet import write_sheet
from coview.recipes.demo import demo
from coview.reports.tables import Table

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results" / "performance"
BLOCK = re.compile(r"(<!-- from [^\n]* -->\n).*?(<!-- end -->)", re.DOTALL)
Rows = list[dict[str, Any]]


def refresh_demo(run: Path, readme: Path) -> None:
    """Replace what stands between the two marks by the tables of the run."""
    result = json.loads((run / "result.json").read_text())
    tables = [Table.from_record(record).markdown() for record in result["tables"].values()]
    text = "\n\n".join(["", *tables, f"The whole demo took {result['seconds']:.0f} seconds.", ""])
    readme.write_text(BLOCK.sub(lambda found: found[1] + text.lstrip("\n") + found[2], readme.read_text()))


def refresh_tables(page: Path, tables: dict[str, Callable[[], Table]]) -> None:
    """Replace what stands between marks by tables of what was measured."""
    page.write_text(with_tables(page.read_text(), tables))


def with_tables(text: str, tables: dict[str, Callable[[], Table]]) -> str:
    """A page with its tables made anew."""
    for name, make in tables.items():
        block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = block.sub(lambda found, make=make: found[1] + "\n" + make().markdown() + "\n" + found[2], text)
    return text


def refresh_multiview(page: Path) -> None:
    """Replace what stands between the marks by what `benchmarks/multiview.py` wrote, its headings one step lower."""
    table = (RESULTS.parent / "multiview" / "table.md").read_text()
    words = re.sub(r"^#", "##", table.partition("\n")[2].strip(), flags=re.MULTILINE)
    block = re.compile(r"(<!-- from results/multiview -->\n).*?(<!-- end -->)", re.DOTALL)
    page.write_text(block.sub(lambda found: found[1] + "\n" + words + "\n\n" + found[2], page.read_text()))


def rows(kind: str, *files: str) -> Rows:
    """What was measured, as the files have it; none where a file is not there yet."""
    paths = [RESULTS / f"{file}.json" for file in files]
    return [row for path in paths if path.exists() for row in json.loads(path.read_text())[kind]]


def aims() -> Table:
    """What was to be reached, and what was."""
    contrast, steps = rows("contrast", "h200-contrast"), rows("step", "h200-step", "h200-step-resnet50")
    files, small = rows("data", "h200-data"), rows("contrast", "cpu-contrast")
    sweep = _find(contrast, "all 1,281,167", "cudnn, float16, captured")
    drawn = _find(contrast, "16,384 drawn", "gathered, float32, captured")
    best = _find(small, "all 100,000", "")
    cells = [
        ("softmax over 1,281,167, one direction", "0.6 ms", f"{sweep['milliseconds']:.2f} ms"),
        ("... memory above the inputs", "64 MiB", f"{sweep['memory']:.0f} MiB"),
        ("... against 16,384 gathered: time", "7 times", f"{sweep['ratio']:.1f} times"),
        ("... against 16,384 gathered: memory", "30 times", f"{drawn['memory'] / sweep['memory']:.0f} times"),
        ("... against 16,384 gathered: negatives", "78 times", f"{1_281_166 / 16_384:.0f} times"),
        *(
            (
                f"step, {name}",
                f"{aim:,} images/s",
                f"{max(r['images'] for r in steps if r['work'].startswith(name) and 'Rand' not in r['work']):,.0f}",
            )
            for name, aim in AIMS.items()
        ),
        *(
            (f"{row['work']}", "10,000 images/s, 8 times", f"{row['images']:,.0f}, {row['ratio']:.1f} times")
            for row in files
            if row["way"] == "streamed"
        ),
        ("two CPU cores: all 100,000 against 4,096 gathered", "3 times", f"{best['ratio']:.1f} times"),
    ]
    return Table("", ("work", "wanted", "reached"), tuple(cells))


AIMS = {
    "half-AlexNets at 224": 18_000,
    "STL-10 halves at 64": 35_000,
    "ResNet-18 halves at 32": 30_000,
    "ResNet-50 pair at 224": 2_300,
}


def contrast(file: str) -> Table:
    """Every way beside the baseline."""
    found = [row for row in rows("contrast", file) if row["ratio"] is not None or "views" in row["work"]]
    cells = tuple(
        (row["work"], row["way"], _ms(row), _whole(row["memory"]), row["ratio"], row["note"] or None)
        for row in found
    )
    return Table("", ("candidates", "way", "ms", "MiB", "times faster", ""), cells)


def growth() -> Table:
    """Time and memory by the number of samples."""
    found = rows("contrast", "h200-contrast")
    sizes = [
        row for row in found if row["ratio"] is None and "captured" in row["way"] and "all" in row["work"]
    ]
    cells = tuple((row["work"].removeprefix("all "), _ms(row), _whole(row["memory"])) for row in sizes)
    return Table("", ("N", "ms", "MiB"), cells)


def step() -> Table:
    found = rows("step", "h200-step", "h200-step-resnet50")
    cells = tuple(
        (r["work"], r["way"], _ms(r), _whole(r["images"]), _whole(r["memory"]), r["ratio"], r["floor"])
        for r in found
    )
    return Table("", ("step", "way", "ms", "images/s", "MiB", "times faster", "floor, ms"), cells)


def data() -> Table:
    found = rows("data", "h200-data")
    cells = tuple((row["work"], row["way"], _ms(row), _whole(row["images"]), row["ratio"]) for row in found)
    return Table("", ("work", "way", "ms a batch", "images/s", "times faster"), cells)


KINDS: dict[str, tuple[str, ...]] = {
    "max pool": ("max_pool",),
    "batch norm, ReLU": ("batch_norm",),
    "softmax sweep": ("sdpa", "SpatialSoftMax"),
    "convolutions and products": (
        "conv",
        "cutlass",
        "xmma",
        "gemm",
        "cask",
        "nvjet",
        "engines_precompiled",
        "nhwc",
    ),
    "crop, colour": ("grid_sampl", "arange_clamp", "round_kernel"),
    "optimiser": ("multi_tensor",),
}


def kernels() -> Table:
    """Milliseconds by what a kernel is for."""
    path = RESULTS / "h200-kernels.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    shares = {work: _by_kind(times) for work, times in found.items()}
    cells = [(kind, *(float(shares[work].get(kind, 0.0)) for work in found)) for kind in (*KINDS, "other")]
    return Table(
        "", ("kernels", *found), (*cells, ("all", *(float(sum(times.values())) for times in found.values())))
    )


def _by_kind(times: dict[str, float]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for name, milliseconds in times.items():
        kind = next((kind for kind, marks in KINDS.items() if any(mark in name for mark in marks)), "other")
        sums[kind] = sums.get(kind, 0.0) + milliseconds
    return sums


def _find(found: Rows, work: str, way: str) -> dict[str, Any]:
    return next(row for row in found if row["work"].startswith(work) and row["way"].startswith(way))


def _ms(row: dict[str, Any]) -> str:
    return f"{row['milliseconds']:.3g}" if row["milliseconds"] < 1000 else f"{row['milliseconds']:,.0f}"


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


TABLES: dict[str, Callable[[], Table]] = {
    "aims": aims,
    "contrast": lambda: contrast("h200-contrast"),
    "growth": growth,
    "cpu": lambda: contrast("cpu-contrast"),
    "step": step,
    "kernels": kernels,
    "data": data,
}

if __name__ == "__main__":
    if sys.argv[1] == "performance":
        refresh_tables(HERE / "performance.md", TABLES)
    elif sys.argv[1] == "scale":
        from scale_tables import TABLES as OF_SCALE

        for name, tables in OF_SCALE.items():
            refresh_tables(HERE / name, tables)
    elif sys.argv[1] == "multiview":
        refresh_multiview(HERE / "estimator.md")
    else:
        refresh_demo(Path(sys.argv[1]), HERE.parent / "README.md")
        write_sheet(demo(), HERE / "views.png", samples=8, split="test", augmented=False)
