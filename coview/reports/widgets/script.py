"""What makes a page answer: each widget is an element with its data, and one script brings them all to life."""

import json
import math
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SCRIPTS = ("start.js", "curves.js", "pairs.js", "samples.js")
STYLE = "widgets.css"


def widget(kind: str, data: dict[str, Any], words: str) -> str:
    """An element that the script of its kind fills; `words` are for those without scripts."""
    text = json.dumps(_finite(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # a name may hold the end of a script
    safe = text.replace("<", "\\u003c")
    return (
        f'<div class="widget" data-kind="{kind}"><script type="application/json">{safe}</script>'
        f"<noscript><p>{escape(words)}</p></noscript></div>"
    )


@cache
def behaviour() -> str:
    """The style and the script of all widgets, to stand in the page."""
    script = "\n".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS)
    style = (FOLDER / STYLE).read_text(encoding="utf-8")
    return f'<style>{style}</style>\n<script>(() => {{\n"use strict";\n{script}\n}})();</script>'


def _finite(value: Any) -> Any:
    """Numbers that JSON has: what is not finite is nothing."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return value
