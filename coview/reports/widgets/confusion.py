"""Which classes a probe takes for which, as a table whose cells are as dark as they are full."""

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Confusion:
    """Counts of samples by true class (down) and by the class that was said (across)."""

    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    title: str = ""

    def html(self) -> str:
        head = "".join(f'<th scope="col"><span>{escape(name)}</span></th>' for name in self.classes)
        rows = "\n".join(self._row(number) for number in range(len(self.classes)))
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        corner = '<th class="words">is \\ said to be</th>'
        return f'<div class="table"><table class="confusion">{caption}\n<tr>{corner}{head}</tr>\n{rows}\n</table></div>'

    def _row(self, number: int) -> str:
        total = sum(self.counts[number])
        cells = "".join(
            self._cell(number, other, count, total) for other, count in enumerate(self.counts[number])
        )
        return f'<tr><th class="words" scope="row">{escape(self.classes[number])}</th>{cells}</tr>'

    def _cell(self, number: int, other: int, count: int, total: int) -> str:
        share = count / total if total else 0.0
        words = f"{count} of {total} {self.classes[number]} said to be {self.classes[other]} ({100 * share:.0f} %)"
        kind = "right" if number == other else "wrong"
        return f'<td class="{kind}" style="--share:{share:.3f}" title="{escape(words)}">{count or ""}</td>'
