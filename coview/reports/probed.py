"""The records of probes that a run folder keeps, as a table: layer by view by kind."""

from collections.abc import Mapping, Sequence
from typing import Any

from coview.reports.tables import Table

Record = Mapping[str, Any]


def probe_table(records: Sequence[Record], title: str = "", note: str = "") -> Table:
    """A row for each view at each layer; a column for each kind of encoders, or where those are alike of probe."""
    if not records:
        raise ValueError("a table of probes needs at least one probe, came none")
    across = "encoders" if len(_distinct(records, "encoders")) > 1 else "kind"
    down = [name for name in ("protocol", "layer", "kind", "view") if name != across]
    down = [name for name in down if name == "view" or len(_distinct(records, name)) > 1]
    columns = _distinct(records, across)
    cells: dict[tuple[str, ...], dict[str, Record]] = {}
    for record in records:
        cells.setdefault(tuple(_value(record, name) for name in down), {})[_value(record, across)] = record
    order = [_distinct(records, name) for name in down]
    keys = sorted(cells, key=lambda key: [known.index(one) for known, one in zip(order, key, strict=True)])
    rows = tuple((*key, *_numbers(cells[key], columns)) for key in keys)
    return Table(title or _title(records), (*down, *_heads(across, columns), "chance"), rows, note)


def _numbers(found: Mapping[str, Record], columns: Sequence[str]) -> tuple[float | None, ...]:
    """The accuracies of a row, with gaps, and what chance would give."""
    accuracies = [found[name]["accuracy"] if name in found else None for name in columns]
    return (*accuracies, 100 / next(iter(found.values()))["classes"])


def _title(records: Sequence[Record]) -> str:
    """What is the same in all of the probes."""
    same = [_distinct(records, name) for name in ("kind", "layer", "protocol")]
    kind, layer, protocol = (values[0] if len(values) == 1 else "" for values in same)
    said = [f"{kind or 'frozen'} probe{'' if kind else 's'}, % right", layer and f"layer {layer}", protocol]
    return ", ".join(part for part in said if part)


def _heads(across: str, columns: Sequence[str]) -> tuple[str, ...]:
    """The name of a kind says nothing where there is one."""
    return ("accuracy",) if across == "kind" and len(columns) == 1 else tuple(columns)


def _distinct(records: Sequence[Record], name: str) -> list[str]:
    return list(dict.fromkeys(_value(record, name) for record in records))


def _value(record: Record, name: str) -> str:
    if name == "protocol" and record.get("augmented"):
        return f"{record[name]}, augmented"
    return str(record[name])
