"""The study of docs/studies.md runs, and the table there names every study that ships."""

import json
import re
from contextlib import nullcontext
from pathlib import Path

from coview.studies import Place
from coview.studies.carry_out import carry_out
from coview.studies.find import find_study, shipped_studies
from coview.studies.plan import make_plan
from coview.studies.write import write_results

TEXT = (Path(__file__).parents[2] / "docs/studies.md").read_text()
SMALL = (
    *("data.train=40", "data.test=30", "data.size=16", "augment.size=16", "augment.padding=2", "epochs=1"),
    *("batch_size=20", "probe_layer=embedding"),
    *(f"encoders.{view}.width=4" for view in ("L", "ab", "normal")),
)


def test_the_study_of_the_page_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "my_study.py").write_text(code)
    study = find_study(f"{tmp_path}/my_study.py:widths")
    place = Place(data=study.data, runs=tmp_path / "runs")
    plan = make_plan(study, place, seeds=[0], settings=SMALL)
    carry_out(plan.todo, lambda text: None, lambda title: nullcontext(None), lambda: None)
    write_results(plan, tmp_path / "out", "coview reproduce my_study.py:widths")
    record = json.loads((tmp_path / "out/result.json").read_text())
    assert [set(one["measured"]) for one in record["runs"]] == [{"depth alone", "all"}] * 4
    assert not any("failed" in one for one in record["runs"])
    assert "accuracy rises with the width: **" in (tmp_path / "out/table.md").read_text()


def test_the_page_names_every_study():
    assert re.findall(r"^\| `([\w-]+)` \|", TEXT, re.MULTILINE) == sorted(
        shipped_studies(), key=lambda name: TEXT.index(f"| `{name}` |")
    )
