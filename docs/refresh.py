"""Put the numbers and the picture of a demo run into the README: `python docs/refresh.py runs/demo`."""

import json
import re
import sys
from pathlib import Path

from coview.cli.sheet import write_sheet
from coview.recipes.demo import demo
from coview.reports.tables import Table

HERE = Path(__file__).parent
BLOCK = re.compile(r"(<!-- from [^\n]* -->\n).*?(<!-- end -->)", re.DOTALL)


def refresh(run: Path, readme: Path) -> None:
    """Replace what stands between the two marks by the tables of the run."""
    result = json.loads((run / "result.json").read_text())
    tables = [Table.from_record(record).markdown() for record in result["tables"].values()]
    text = "\n\n".join(["", *tables, f"The whole demo took {result['seconds']:.0f} seconds.", ""])
    readme.write_text(BLOCK.sub(lambda found: found[1] + text.lstrip("\n") + found[2], readme.read_text()))


if __name__ == "__main__":
    refresh(Path(sys.argv[1]), HERE.parent / "README.md")
    write_sheet(demo(), HERE / "views.png", samples=8, split="test", augmented=False)
