"""`table.md`, `figure.png` and `result.json` of a study: made from its run folders, never by hand."""

import json
from collections.abc import Sequence
from pathlib import Path

from coview.files import write_text, write_whole
from coview.reports.outcome import Line
from coview.studies.plan import Plan, slug
from coview.studies.table import failures_of, lines_of, record_of, table_of, verdicts_of, versions_of


def write_results(plan: Plan, out: Path, command: str, *, figure: bool = True) -> list[Line]:
    """Write what the run folders say by now; drawing takes a second, and can wait for the end."""
    lines = lines_of(plan)
    write_text(out / "table.md", markdown(plan, lines, command))
    record = json.dumps(record_of(plan, lines, command), indent=2, ensure_ascii=False)
    write_text(out / "result.json", record + "\n")
    if figure:
        drawn = plan.study.figure(lines, f"the paper, {plan.study.data}")
        write_whole(out / "figure.png", lambda file: drawn.savefig(file, format="png", dpi=144))
    return lines


def markdown(plan: Plan, lines: Sequence[Line], command: str) -> str:
    """The table, what it says of the study's claims, and what it took."""
    study, table = plan.study, table_of(plan, lines)
    parts = [f"# {table.title}\n", f"{study.claim} ({study.paper})\n"]
    parts.append(table.markdown().partition("\n\n")[2] if table.title else table.markdown())
    if study.claims:
        parts.append("## Claims\n")
        parts.append(
            _bullets(
                [f"{words}: **{found.word}** ({found.reason})" for words, found in verdicts_of(plan, lines)]
            )
        )
    if failed := failures_of(plan):
        parts.append("## Failed\n")
        parts.append(_bullets([f"{job.name}: {reason}" for job, reason in failed]))
    parts.append("## How\n")
    parts.append(_bullets(notes(plan, command)))
    return "\n".join(parts)


def notes(plan: Plan, command: str) -> list[str]:
    """Where the numbers come from."""
    versions = versions_of(plan.jobs)
    found = [
        f"`{command}`, from run folders in `{plan.place.runs / slug(plan.study.name) / slug(plan.place.data)}`"
    ]
    if versions:
        found.append(f"machine: {_all(versions, 'machine')}; commit {_all(versions, 'commit')}")
        found.append(f"torch {_all([one['packages'] for one in versions], 'torch')}; {_days(versions)}")
    found.append(
        "numbers are the mean over seeds ± the sample deviation; minutes are training and measuring of one run"
    )
    if plan.place.protocol is not None:
        found.append(f"probes are fitted by the protocol '{plan.place.protocol}'")
    if plan.place.data != plan.study.data:
        found.append(
            f"the paper's numbers are of {plan.study.data}, those here of {plan.place.data}. {plan.study.fitted}"
        )
    return found


def _bullets(lines: Sequence[str]) -> str:
    return "".join(f"- {' '.join(line.split())}\n" for line in lines)


def _all(versions: Sequence[dict], name: str) -> str:
    """What all runs have in common, or what they have between them."""
    return ", ".join(dict.fromkeys(str(one.get(name) or "unknown") for one in versions))


def _days(versions: Sequence[dict]) -> str:
    days = sorted(str(one["date"])[:10] for one in versions if one.get("date"))
    if not days:
        return "date unknown"
    return days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
