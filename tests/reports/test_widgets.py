"""What the parts that answer to the pointer carry; how they behave is in test_browser.py."""

import json
import re
from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from coview.reports.page import Section, page
from coview.reports.tables import Table
from coview.reports.widgets import Confusion, Curves, Pairs, Samples, Thumbnails, widget

N = 11


def rows(steps=40):
    return [
        {
            "step": step,
            "loss": 5.0 - step / 100,
            "terms": {"L->ab": 3.0, "ab->L": float("nan") if step == 3 else 2.0},
            "bounds": {"L->ab": step / 10},
            "ceilings": {"L->ab": 5.5},
        }
        for step in range(1, steps + 1)
    ]


def samples():
    generator = np.random.default_rng(0)
    have = {"L": np.ones(N, dtype=bool), "</script>": np.arange(N) % 4 > 0}
    images = {
        name: [np.full((9, 13, 3), 20 * n, dtype=np.uint8) if there else None for n, there in enumerate(one)]
        for name, one in have.items()
    }
    pairs = [("L", "</script>"), ("</script>", "L")]
    near = {a: {b: generator.integers(N, size=(N, 4))} for a, b in pairs}
    return Samples(
        tuple(f"<b>{n}" for n in range(N)),
        have,
        {name: Thumbnails.of(one) for name, one in images.items()},
        {"PCA": {name: generator.normal(size=(N, 2)) for name in have}},
        near,
        {a: {b: np.full((N, 4), 0.5) for b in one} for a, one in near.items()},
        {a: {b: np.where(have["</script>"], 2, 0) for b in one} for a, one in near.items()},
        label=tuple("xy"[n % 2] if n else None for n in range(N)),
    )


def data_of(html):
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
    return json.loads(text)


def test_no_name_ends_the_script():
    html = samples().html()
    data = data_of(html)
    assert data["views"] == ["L", "</script>"]
    assert data["names"][3] == "<b>3"
    assert html.count("</script>") == 1


def test_samples_say_who_is_there_and_of_which_class():
    data = data_of(samples().html())
    assert data["classes"] == ["x", "y"]
    assert data["label"][:3] == [-1, 1, 0]
    assert data["present"]["</script>"][:5] == [0, 1, 1, 1, 0]
    assert len(data["near"]["L"]["</script>"]) == N


def test_pictures_lie_in_order_on_a_sheet():
    images = [np.full((20, 30, 3), 9 * n, dtype=np.uint8) for n in range(27)]
    images[4] = None
    source = Thumbnails.of(images).source
    sheet = np.asarray(Image.open(BytesIO(b64decode(source.partition(",")[2]))))
    assert sheet.shape == (2 * 56, 25 * 56, 3)
    for number in (1, 4, 24, 26):
        down, across = divmod(number, 25)
        tile = sheet[down * 56 + 10 : down * 56 + 46, across * 56 + 10 : across * 56 + 46]
        assert abs(float(tile.mean()) - (0 if number == 4 else 9 * number)) < 6


def test_curves_have_what_was_logged_and_no_more_points_than_a_screen():
    data = data_of(Curves.of_run(rows(), "run").html())
    assert [metric["name"] for metric in data["metrics"]] == ["information", "loss"]
    information, loss = data["metrics"]
    assert information["curves"]["L->ab"] == [
        list(range(1, 41)),
        pytest.approx([n / 10 for n in range(1, 41)]),
    ]
    assert information["ceilings"]["L->ab"][1] == [5.5] * 40
    assert loss["curves"]["ab->L"][1][2] is None  # not finite
    long = data_of(Curves.of_run(rows(1500), "run").html())["metrics"][0]["curves"]["L->ab"]
    assert len(long[0]) == 500
    assert long[0][-1] == 1500
    assert long[1][0] == pytest.approx(0.2)  # the mean of the first three


def test_runs_are_laid_over_each_other():
    data = data_of(Curves.of_runs({"one": rows(3), "other": [{"step": 7, "loss": 1.25}]}).html())
    loss = data["metrics"][1]["curves"]
    assert loss["other"] == [[7], [1.25]]
    assert loss["one"][0] == [1, 2, 3]
    assert Curves.of_runs({"one": []}).metrics == ()


def test_probes_of_a_run_are_curves_too():
    history = [*rows(2), {"step": 2, "probes": {"L": 31.0}}, {"step": 4, "probes": {"L": 44.0}}]
    data = data_of(Curves.of_run(history, "run").html())
    assert data["metrics"][2] == {
        "name": "probes of held-out training samples",
        "unit": "% right",
        "curves": {"L": [[2, 4], [31.0, 44.0]]},
        "ceilings": {},
    }


def test_pairs_end_with_the_last_row():
    data = data_of(Pairs.of_run(rows(), "run").html())
    assert data["rows"]["L->ab"] == {"loss": 3.0, "information": 4.0, "ceiling": 5.5}
    assert data["rows"]["ab->L"] == {"loss": 2.0, "information": None, "ceiling": None}


def test_confusion():
    html = Confusion(("<i>", "b"), ((3, 1), (0, 0)), "75.0 % right").html()
    assert (
        '<td class="right" style="--share:0.750" title="3 of 4 &lt;i&gt; said to be &lt;i&gt; (75 %)">3</td>'
        in html
    )
    assert '<td class="wrong" style="--share:0.000" title="0 of 0 b said to be &lt;i&gt; (0 %)"></td>' in html
    assert "<i>" not in html


def test_scripts_are_there_for_those_that_need_them_alone():
    plain = page("t", [Section("a"), Table("x", ("y",), ((1,),))])
    assert "<script" not in plain
    both = page("t", [Curves.of_run(rows(), ""), samples()])
    assert both.count("KINDS.samples =") == 1
    assert "http" not in re.sub(r"data:image/jpeg;base64,[^\"]*", "", both)
    assert "noscript" in widget("curves", {}, "words")
