"""One self-contained HTML page from parts: nothing beside it, light and dark, wide and narrow."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure

from coview.files import write_text
from coview.reports.tables import Table
from coview.reports.widgets import Confusion, Curves, Pairs, Samples, behaviour

STYLE = """
:root { color-scheme: light dark; --ink: #1f2430; --quiet: #5d6676; --line: #d9dee6; --paper: #ffffff;
  --tint: #f4f6f9; --accent: #0063a0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ef; --quiet: #9aa4b5; --line: #343b49; --paper: #14171e;
    --tint: #1d222c; --accent: #6cb8ee; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1040px; padding: 1.6rem 1.2rem 4rem; background: var(--paper);
  color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 2.4rem 0 .5rem; padding-top: .8rem;
  border-top: 1px solid var(--line); }
p { max-width: 46rem; margin: .5rem 0; white-space: pre-line; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
nav { color: var(--quiet); font-size: .92rem; } nav a { white-space: nowrap; }
figure { margin: 1rem 0; } .picture { overflow-x: auto; }
figure img { display: block; max-width: 100%; height: auto; background: #fff; border-radius: 6px; }
figcaption { margin-top: .4rem; }
figcaption, .note, caption { color: var(--quiet); font-size: .88rem; }
.table { overflow-x: auto; margin: 1rem 0 .3rem; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .4rem; white-space: nowrap; }
th, td { padding: .32rem .8rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 600; border-bottom-color: var(--quiet); }
th.words, td.words { text-align: left; }
td.words { white-space: normal; overflow-wrap: break-word; max-width: 32rem; }
th:first-child, td:first-child { padding-left: .2rem; }
pre { background: var(--tint); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem;
  overflow-x: auto; font: .88rem/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
@media (max-width: 640px) { body { padding: 1rem .9rem 3rem; } h1 { font-size: 1.4rem; }
  figure img { min-width: min(var(--width), 34rem); } }
"""


@dataclass(frozen=True)
class Section:
    """A heading, which the contents line leads to, and the text below it."""

    heading: str
    text: str = ""


@dataclass(frozen=True)
class Picture:
    """A figure, its caption, and what it shows in words for those who cannot see it."""

    figure: Figure
    caption: str = ""


@dataclass(frozen=True)
class Command:
    """Something to type or to copy, shown as it is."""

    text: str


@dataclass(frozen=True)
class Folded:
    """A table that is opened by those who want it."""

    words: str
    table: Table

    def html(self) -> str:
        return f'<details class="fields"><summary>{escape(self.words)}</summary>{self.table.html()}</details>'


Part = Section | Picture | Table | Command | Folded | Curves | Pairs | Samples | Confusion


def page(title: str, parts: Sequence[Part]) -> str:
    """The whole page as one text."""
    sections = [(number, part) for number, part in enumerate(parts) if isinstance(part, Section)]
    links = [f'<a href="#part-{number}">{escape(part.heading)}</a>' for number, part in sections]
    contents = f"<nav>{' · '.join(links)}</nav>" if len(links) > 1 else ""
    body = "\n".join(_part(part, number) for number, part in enumerate(parts))
    answers = any(isinstance(part, Curves | Pairs | Samples | Confusion) for part in parts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{STYLE}</style>
{behaviour() if answers else ""}</head>
<body>
<h1>{escape(title)}</h1>
{contents}
{body}
</body>
</html>
"""


def write_page(path: Path, content: str) -> None:
    """Write a page whole or not at all: a stop or a full disk leaves what was there before."""
    write_text(path, content)


def _part(part: Part, number: int) -> str:
    if isinstance(part, Section):
        text = f"\n<p>{escape(part.text)}</p>" if part.text else ""
        return f'<h2 id="part-{number}">{escape(part.heading)}</h2>{text}'
    if isinstance(part, Picture):
        return _picture(part)
    if isinstance(part, Command):
        return f"<pre>{escape(part.text)}</pre>"
    return part.html()


def _picture(part: Picture) -> str:
    """The figure as a PNG inside of the page, with two of its points to each point of the page."""
    data = BytesIO()
    part.figure.savefig(data, format="png", dpi=192)
    width = round(part.figure.get_size_inches()[0] * 96)
    source = f"data:image/png;base64,{b64encode(data.getvalue()).decode()}"
    caption = f"<figcaption>{escape(part.caption)}</figcaption>" if part.caption else ""
    image = f'<img width="{width}" style="--width: {width}px" alt="{escape(part.caption)}" src="{source}">'
    return f'<figure><div class="picture">{image}</div>{caption}</figure>'
