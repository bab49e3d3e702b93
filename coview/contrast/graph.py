"""Which views are contrasted with which: the core view, the full graph, or edges of your own (section 3.3)."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from coview.types import view_of

Edge = tuple[str, str, float]


@dataclass(frozen=True)
class Pair:
    """One direction of an edge: the anchor chooses among candidates of the target."""

    anchor: str
    target: str
    weight: float = 1.0

    @property
    def name(self) -> str:
        return f"{self.anchor}->{self.target}"


class PairGraph:
    """Views and parts of views as nodes, objectives as weighted edges.

    A node is a view ("L") or a part of one ("ab:conv2"); an edge of a node with itself is instance discrimination.
    An edge has both directions; a `Pair` among the edges is that one direction alone.
    """

    def __init__(self, edges: Iterable[tuple[str, str] | Edge | Pair]) -> None:
        edges = [edge if isinstance(edge, Pair) else _edge(edge) for edge in edges]
        self.edges: tuple[Edge, ...] = tuple(edge for edge in edges if not isinstance(edge, Pair))
        self.one_way: tuple[Pair, ...] = tuple(_checked(edge) for edge in edges if isinstance(edge, Pair))
        if not edges:
            raise ValueError("a pair graph needs at least one edge, for example PairGraph([('L', 'ab')])")
        names = [(pair.anchor, pair.target) for pair in self.directed()]
        doubled = next((name for name in names if names.count(name) > 1), None)
        if doubled:
            raise ValueError(
                f"edge {doubled[0]}-{doubled[1]} is there twice: an edge has both directions, once"
            )

    @property
    def views(self) -> tuple[str, ...]:
        """Every view that has an edge, in order of appearance."""
        return tuple(dict.fromkeys(view_of(node) for node in self.nodes))

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every view or part of a view that has an edge, in order of appearance."""
        ends = [edge[:2] for edge in self.edges] + [(pair.anchor, pair.target) for pair in self.one_way]
        return tuple(dict.fromkeys(node for pair in ends for node in pair))

    @property
    def targets(self) -> tuple[str, ...]:
        """The nodes that anchors choose among, of which something is to be remembered."""
        chosen = {pair.target for pair in self.directed()}
        return tuple(node for node in self.nodes if node in chosen)

    def of_views(self) -> "PairGraph":
        """The same graph with every part put into its view; edges that then fall together add their weights.

        One direction alone is half an edge.
        """
        weights: dict[frozenset[str], float] = {}
        ends: dict[frozenset[str], tuple[str, str]] = {}
        for first, second, weight in self._weighted():
            pair = (view_of(first), view_of(second))
            weights[frozenset(pair)] = weights.get(frozenset(pair), 0.0) + weight
            ends.setdefault(frozenset(pair), pair)
        return PairGraph([(*ends[pair], weight) for pair, weight in weights.items()])

    def directed(self) -> Iterator[Pair]:
        """Both directions of every edge: L(V1, V2) is the sum of the two (equation 4)."""
        for first, second, weight in self.edges:
            yield Pair(first, second, weight)
            if first != second:
                yield Pair(second, first, weight)
        yield from self.one_way

    def regions(self) -> dict[frozenset[str], float]:
        """For each subset of views, the weight of the objectives that contain what just they share (figure 3)."""
        views = self.views
        subsets = (frozenset(s) for size in range(1, len(views) + 1) for s in combinations(views, size))
        edges = list(self._weighted())
        return {
            subset: sum((w for a, b, w in edges if {view_of(a), view_of(b)} <= subset), 0.0)
            for subset in subsets
        }

    def _weighted(self) -> Iterator[Edge]:
        yield from self.edges
        yield from ((pair.anchor, pair.target, pair.weight / 2) for pair in self.one_way)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PairGraph) and (self.edges, self.one_way) == (other.edges, other.one_way)

    def __hash__(self) -> int:
        return hash((self.edges, self.one_way))

    def __repr__(self) -> str:
        return f"PairGraph({[*self.edges, *self.one_way]})"


def core_graph(core: str, others: Sequence[str]) -> PairGraph:
    """One view against each of the others (equation 7)."""
    if core in others:
        raise ValueError(f"the core view '{core}' is also among the others {list(others)}: name it once")
    return PairGraph([(core, other) for other in others])


def full_graph(views: Sequence[str]) -> PairGraph:
    """Every view against every other (equation 8)."""
    if len(set(views)) != len(views) or len(views) < 2:
        raise ValueError(f"a full graph needs two or more different views, got {list(views)}")
    return PairGraph(combinations(views, 2))


def patch_graph(views: Sequence[str], layers: Sequence[str], *, core: str | None = None) -> PairGraph:
    """Each view as a whole against cells of the others' early layers; one view against its own, as DIM (appendix B.2).

    With a `core` view, it alone is contrasted with each of the others, both ways.
    """
    if not views or not layers or len(set(views)) != len(views) or len(set(layers)) != len(layers):
        raise ValueError(
            f"a patch graph needs different views and different layers, got {list(views)} and {list(layers)}"
        )
    if core is not None and core not in views:
        raise ValueError(f"the core view '{core}' is none of {list(views)}")
    pairs = [pair for pair in permutations(views, 2) if core is None or core in pair] or [
        (views[0], views[0])
    ]
    return PairGraph([(whole, f"{other}:{layer}") for whole, other in pairs for layer in layers])


def jigsaw_graph(graph: PairGraph, *, weight: float = 1.0, within: bool = False) -> PairGraph:
    """The graph, and its anchors once more as jigsaws, one way: their targets stay whole (PIRL).

    `weight` is theirs beside that of the whole; `within` asks each jigsaw for its own view too.
    """
    pairs = list(graph.directed())
    whole = {(pair.anchor, pair.target): pair.weight for pair in pairs if ":" not in pair.name}
    if within:
        whole |= {(view, view): 1.0 for view in graph.views if (view, view) not in whole}
    jigsaws = [Pair(f"{anchor}:jigsaw", target, weight * own) for (anchor, target), own in whole.items()]
    return PairGraph([*graph.edges, *graph.one_way, *jigsaws])


def _edge(edge: tuple) -> Edge:
    if not 2 <= len(edge) <= 3:
        raise ValueError(f"an edge is (view, view) or (view, view, weight), got {edge!r}")
    pair = _checked(Pair(*edge))
    return pair.anchor, pair.target, float(pair.weight)


def _checked(pair: Pair) -> Pair:
    for node in (pair.anchor, pair.target):
        if not isinstance(node, str) or not _is_node(node):
            raise ValueError(
                f"a view's name is a word without '.' and '->', and a part of it is 'view:part', got {node!r}"
            )
    if not (math.isfinite(pair.weight) and pair.weight > 0):
        raise ValueError(
            f"edge {pair.anchor}-{pair.target} has weight {pair.weight}: give a positive number, or leave the edge out"
        )
    return pair


def _is_node(name: str) -> bool:
    words = name.split(":")
    return len(words) <= 2 and all(words) and "." not in name and "->" not in name
