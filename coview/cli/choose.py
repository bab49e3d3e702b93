"""`coview choose-views`: what every pair of views shares, and which of them the estimates say to contrast."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from coview.cli.mi import How, Which
from coview.contrast import PairGraph, full_graph
from coview.files import write_whole
from coview.information import Estimate, ViewPairs, estimate, view_pairs
from coview.recipes.choose import (
    CAVEATS,
    Advice,
    Cut,
    Sharing,
    advise,
    channels,
    cuts,
    joined,
    survey,
)
from coview.recipes.material import Material, fields_of
from coview.reports.information import pair_matrix
from coview.reports.tables import Table
from coview.types import View

SHOWN = 4  # cuts that are shown


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which views are to be chosen from, as the command line has it."""

    views: tuple[str, ...] = ()
    channels: str | None = None  # of this view, each as a view
    check: int = 2  # cuts of which the information is estimated, not summed up from pairs

    def of(self, material: Material) -> dict[str, View]:
        """The views by name."""
        if self.channels is None:
            names = self.views or tuple(material.views)
            return {name: material.view(name, *names) for name in names}
        view = material.view(self.channels)
        example = view(fields_of(material.data))
        return channels(view, self.channels, example.shape[1 if example.ndim == 2 else -3])


def choose_views(which: Which, wanted: Wanted, how: How, out: Path, console: Console) -> None:
    """Estimate every pair, and tell what follows."""
    keywords = how.keywords()
    material = which.material()
    views = wanted.of(material)

    def pairs(first: str, second: str, among: Mapping[str, View] = views) -> ViewPairs:
        return view_pairs(material.data, among, first, second, augment=material.augment)

    estimates: dict[frozenset[str], Estimate] = {}
    for pair, found in survey(list(views), pairs, lambda some: estimate(some, **keywords)):
        estimates[frozenset(pair)] = found
        console.print(Text(f"{' and '.join(pair)}: {found.nats:.2f} ± {found.spread:.2f} nats", style="dim"))
    sharing = Sharing(tuple(views), estimates)
    console.print(pair_table(sharing, which.name).rich())
    _tell_advice(advise(sharing), console)
    measured: dict[str, Estimate] = {}
    found_cuts = cuts(sharing)[:SHOWN] if len(views) > 2 else []
    for cut in found_cuts[: wanted.check]:
        groups = {
            " ".join(names): joined([views[name] for name in names]) for names in (cut.first, cut.second)
        }
        measured[cut.name] = estimate(pairs(*groups, among=groups), **keywords)
    if found_cuts:
        console.print(cut_table(found_cuts, measured).rich())
    for caveat in CAVEATS:
        console.print(Text(f"- {caveat}", style="dim"), soft_wrap=True)
    figure = pair_matrix(
        sharing.views, {pair: one.nats for pair, one in estimates.items()}, title="nats shared"
    )
    write_whole(out, lambda file: figure.savefig(file, format="png", dpi=144))
    console.print(Text(f"Written: {out}"), soft_wrap=True)


def pair_table(sharing: Sharing, name: str) -> Table:
    """Every pair, those that share most first, with what is to be said of its estimate."""
    pairs = sorted(sharing.pairs, key=lambda pair: -sharing.nats(*pair))
    rows = []
    for pair in pairs:
        found = sharing.estimates[frozenset(pair)]
        remark = "; ".join(warning.partition(":")[0] for warning in found.warnings)
        rows.append(
            (" – ".join(pair), f"{found.nats:.2f} ± {found.spread:.2f}", f"{found.bits:.2f}", remark or None)
        )
    return Table(f"What pairs of views of {name} share", ("pair", "nats", "bits", "remark"), tuple(rows))


def cut_table(found: Sequence[Cut], measured: Mapping[str, Estimate]) -> Table:
    """Cuts, and what is known of them."""
    rows = tuple(
        (cut.name, f"{cut.across:.2f}", f"{measured[cut.name].nats:.2f}" if cut.name in measured else None)
        for cut in found
    )
    return Table("All views as two, those first that share least", ("cut", "nats a pair", "nats"), rows)


def _tell_advice(advice: Advice, console: Console) -> None:
    for reason in advice.reasons:
        console.print(Text(f"- {reason}"), soft_wrap=True)
    if advice.graph is not None:
        console.print(Text(f"Favoured: {spell(advice.graph)}", style="bold"), soft_wrap=True)


def spell(graph: PairGraph) -> str:
    """A graph as a recipe has it."""
    views, edges = list(graph.views), [edge[:2] for edge in graph.edges]
    if graph == full_graph(views):
        return f"full_graph({views})"
    core = next((view for view in views if all(view in edge for edge in edges)), None)
    if core is not None:
        return f"core_graph('{core}', {[view for view in views if view != core]})"
    return f"PairGraph({edges})"
