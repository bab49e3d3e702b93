"""What came out of a study, read from its run folders: as lines, as a table with the paper's numbers, as a record."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from coview.reports.outcome import Line, Numbers, columns_of
from coview.reports.tables import Cell, Table
from coview.studies.claims import Verdict
from coview.studies.job import Job
from coview.studies.plan import Plan
from coview.training import RunFolder

EXTRA = ("seeds", "epochs", "minutes", "images/s", "M parameters")


def lines_of(plan: Plan) -> list[Line]:
    """Every row with the numbers that its seeds have so far."""
    return [Line(row.name, _numbers(_jobs(plan, row.name)), row.paper, row.at) for row in plan.rows]


def verdicts_of(plan: Plan, lines: Sequence[Line]) -> list[tuple[str, Verdict]]:
    """Each claim of the study, and what the lines say of it."""
    by_name = {line.name: line for line in lines}
    return [(claim.words, claim.verdict(by_name)) for claim in plan.study.claims]


def failures_of(plan: Plan) -> list[tuple[Job, str]]:
    """The runs that failed, and why."""
    found = [(job, job.result().get("failed")) for job in plan.jobs]
    return [(job, reason) for job, reason in found if reason is not None]


def table_of(plan: Plan, lines: Sequence[Line]) -> Table:
    """A line a row: what was measured as mean ± sample deviation, the paper's number beside it, and what it took."""
    paper = f"paper ({plan.study.data})"
    columns = columns_of(lines)
    titles = [title for name in columns for title in ((name, paper) if _told(lines, name) else (name,))]
    rows = []
    for line in lines:
        jobs = _jobs(plan, line.name)
        cells: list[Cell] = [line.name]
        for name in columns:
            cells.append(_cell(line, name, jobs))
            cells += [_shown(line.paper.get(name), _decimals(lines, name))] if _told(lines, name) else []
        rows.append((*cells, *_extra(jobs)))
    return Table(f"{plan.study.name} on {plan.place.data}", ("", *titles, *EXTRA), tuple(rows))


def short_table(plan: Plan, lines: Sequence[Line]) -> Table:
    """The same for a terminal: the paper's numbers in the cells, and not what it took."""
    columns = columns_of(lines)
    rows = tuple(
        (
            line.name,
            *(_short_cell(line, name, _jobs(plan, line.name), _decimals(lines, name)) for name in columns),
        )
        for line in lines
    )
    note = f"in brackets: the paper, on {plan.study.data}" if any(line.paper for line in lines) else ""
    return Table(f"{plan.study.name} on {plan.place.data}", ("", *columns), rows, note)


def record_of(plan: Plan, lines: Sequence[Line], command: str) -> dict[str, Any]:
    """Every number of the study, and where each is from."""
    return {
        "study": plan.study.name,
        "data": plan.place.data,
        "command": command,
        "table": table_of(plan, lines).record(),
        "claims": [
            {"claim": words, "verdict": found.word, "reason": found.reason}
            for words, found in verdicts_of(plan, lines)
        ],
        "runs": [_job_record(job) for job in plan.jobs],
    }


def versions_of(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """What the runs say that they ran on."""
    there = [RunFolder(job.folder) for job in jobs if (job.folder / "versions.json").is_file()]
    return [run.read_json("versions.json") for run in there]


def _jobs(plan: Plan, row: str) -> list[Job]:
    return [job for job in plan.jobs if job.row.name == row]


def _numbers(jobs: Sequence[Job]) -> dict[str, Numbers]:
    found: dict[str, list[float]] = {}
    for job in jobs:
        for name, value in job.numbers().items():
            found.setdefault(name, []).append(value)
    return {name: Numbers(tuple(values)) for name, values in found.items()}


def _shown(number: float | None, decimals: int) -> Cell:
    """The paper's number with the decimals that it has there."""
    return None if number is None else f"{number:.{decimals}f}"


def _decimals(lines: Sequence[Line], column: str) -> int:
    """How many the paper has in a column: 70.00 among numbers of two, 64.0 among those of one."""
    told = [repr(float(line.paper[column])) for line in lines if column in line.paper]
    return max((len(text.partition(".")[2]) for text in told), default=0)


def _told(lines: Sequence[Line], column: str) -> bool:
    """Whether the paper has a number in a column."""
    return any(column in line.paper for line in lines)


def _cell(line: Line, column: str, jobs: Sequence[Job]) -> Cell:
    """The numbers of a cell; where there are fewer than seeds, how many."""
    if column in line.numbers:
        found = line.numbers[column]
        return (
            str(found) if len(found.values) == len(jobs) else f"{found} ({len(found.values)} of {len(jobs)})"
        )
    wanted = any(column in (name, *_told_by(job, name)) for job in jobs for name in job.row.measures)
    return "failed" if wanted and any("failed" in job.result() for job in jobs) else None


def _short_cell(line: Line, column: str, jobs: Sequence[Job], decimals: int) -> Cell:
    ours, paper = _cell(line, column, jobs), _shown(line.paper.get(column), decimals)
    return ours if paper is None else f"{ours or '–'} [{paper}]"


def _told_by(job: Job, measure: str) -> list[str]:
    """The columns of a measure that gave several."""
    value = job.result().get("measured", {}).get(measure)
    return list(value) if isinstance(value, Mapping) else []


def _extra(jobs: Sequence[Job]) -> tuple[Cell, ...]:
    """What the runs of a row took: seeds done, epochs, minutes of training and measuring, rate and size."""
    results = [job.result() for job in jobs]
    trained = [one["trained"] for one in results if "trained" in one]
    if not trained:
        return (sum(job.done for job in jobs) or None, *[None] * (len(EXTRA) - 1))
    minutes = [
        (one["trained"].get("seconds", 0.0) + sum(one.get("seconds", {}).values())) / 60
        for one in results
        if "trained" in one
    ]
    rates = [one["rate"] for one in trained if "rate" in one]
    rate = round(fmean(rates)) if rates else None
    parameters = trained[0]["parameters"] / 1e6
    return (
        sum(job.done for job in jobs),
        trained[0].get("epochs"),
        fmean(minutes),
        rate,
        f"{parameters:.2f}",
    )


def _job_record(job: Job) -> dict[str, Any]:
    return {
        "row": job.row.name,
        "seed": job.seed,
        "folder": str(job.folder),
        "recipe": job.origin["recipe"],
        "settings": job.origin["settings"],
        **job.result(),
        "versions": next(iter(versions_of([job])), None),
    }
