"""Tables of probes: what differs is a row or a column, what is the same is said once."""

import pytest

from coview.reports.probed import probe_table


def record(**changed):
    one = {
        "encoders": "trained",
        "kind": "linear",
        "layer": "fc7",
        "view": "L",
        "views": ["L"],
        "protocol": "ours",
        "augmented": False,
        "classes": 8,
        "accuracy": 50.25,
    }
    return one | changed


def test_one_kind_at_one_layer_is_a_row_a_view():
    table = probe_table([record(), record(view="ab", accuracy=40.0)])
    assert table.title == "linear probe, % right, layer fc7, ours"
    assert table.columns == ("view", "accuracy", "chance")
    assert table.rows == (("L", 50.25, 12.5), ("ab", 40.0, 12.5))


def test_layers_are_rows_and_kinds_are_columns():
    records = [
        record(layer="conv1", accuracy=1.0),
        record(layer="conv1", kind="knn", accuracy=2.0),
        record(layer="fc7", accuracy=3.0),
    ]
    table = probe_table(records, note="a note")
    assert table.columns == ("layer", "view", "linear", "knn", "chance")
    assert table.rows == (("conv1", "L", 1.0, 2.0, 12.5), ("fc7", "L", 3.0, None, 12.5))
    assert table.note == "a note"


def test_bounds_are_columns_and_then_kinds_are_rows():
    records = [
        record(encoders=encoders, kind=kind, accuracy=accuracy)
        for encoders, accuracy in (("random", 10.0), ("trained", 20.0), ("supervised", 30.0))
        for kind in ("linear", "knn")
    ]
    table = probe_table(records)
    assert table.columns == ("kind", "view", "random", "trained", "supervised", "chance")
    assert table.rows == (("linear", "L", 10.0, 20.0, 30.0, 12.5), ("knn", "L", 10.0, 20.0, 30.0, 12.5))


def test_rows_stand_together_in_the_order_of_what_was_asked_first():
    records = [
        record(layer=layer, view=view, kind=kind, encoders=encoders)
        for encoders in ("random", "trained")
        for layer in ("stem", "fc")
        for view in ("ab", "L")
        for kind in ("linear", "knn")
    ]
    keys = [row[:3] for row in probe_table(records).rows]
    assert keys == [
        (layer, kind, view) for layer in ("stem", "fc") for kind in ("linear", "knn") for view in ("ab", "L")
    ]


def test_protocols_are_told_apart():
    records = [
        record(),
        record(protocol="paper", accuracy=1.0),
        record(protocol="paper", augmented=True, accuracy=2.0),
    ]
    table = probe_table(records)
    assert [row[:3] for row in table.rows] == [
        ("ours", "L", 50.25),
        ("paper", "L", 1.0),
        ("paper, augmented", "L", 2.0),
    ]


def test_a_table_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one probe, came none"):
        probe_table([])
