"""A view once more as a jigsaw: nine tiles, encoded apart, side by side in random order (Misra et al. 2020, PIRL)."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coview.encoders.each import Parts, parts
from coview.encoders.norm import moving
from coview.names import did_you_mean

GRID = 3
TILES = GRID * GRID


def with_jigsaw(
    make: Callable[[], nn.Module], *, tile: int, dim: int = 128, layer: str | None = None
) -> "WithJigsaw":
    """An encoder that also embeds its view as a jigsaw of tiles of `tile` pixels, under the name "jigsaw".

    Of each tile a layer is taken, by default the last before the embedding; its size is seen on an empty tile.
    """
    encoder = make()
    layer, size = _layer(encoder, layer, tile)
    return WithJigsaw(encoder, layer=layer, size=size, tile=tile, dim=dim)


class WithJigsaw(nn.Module):
    """What an encoder says of the view, and under the name "jigsaw" what it says of its tiles.

    Each tile is cut at random inside of its cell of a 3 x 3 grid and encoded on its own, to as many numbers as an
    embedding has; all nine are put side by side in random order and projected.
    """

    whole_only = False  # set on slow copies of which nobody asks for a jigsaw

    def __init__(self, encoder: nn.Module, *, layer: str, size: int, tile: int, dim: int) -> None:
        super().__init__()
        self.encoder, self.layer, self.tile = encoder, layer, tile
        self.piece = nn.Linear(size, dim)
        self.projection = nn.Linear(TILES * dim, dim)

    def features(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """The layers of the encoder itself."""
        return self.encoder.features(view)  # pyright: ignore[reportCallIssue]

    def forward(self, view: Float[Tensor, "B C H W"]) -> Parts:
        if self.whole_only:
            return parts(self.encoder(view))
        order = torch.rand(len(view), TILES, device=view.device).argsort(1)
        return {**parts(self.encoder(view)), "jigsaw": self.put_together(self.pieces(view), order)}

    def pieces(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B 9 D"]:
        """Every tile encoded on its own."""
        tiles = self.cut(view).flatten(0, 1).contiguous(memory_format=torch.channels_last)
        with moving(self.encoder, 0.0):  # running statistics stay those of whole views, which probes look at
            said = self.features(tiles)[self.layer]
        return self.piece(_vectors(said)).unflatten(0, (len(view), TILES))

    def put_together(self, pieces: Float[Tensor, "B 9 D"], order: Int[Tensor, "B 9"]) -> Float[Tensor, "B D"]:
        """Pieces side by side in an order, projected."""
        ordered = pieces.gather(1, order[:, :, None].expand(pieces.shape))
        return self.projection(ordered.flatten(1))

    def cut(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B 9 C T T"]:
        """The tiles of each sample, row by row."""
        tall, wide = (side // GRID for side in view.shape[-2:])  # of a cell
        if min(tall, wide) < self.tile:
            raise ValueError(
                f"tiles of {self.tile} do not fit into the {GRID} x {GRID} cells of a view of "
                f"{view.shape[-2]} x {view.shape[-1]}: wanted {min(tall, wide)} or less"
            )
        luck = torch.rand(2, len(view), TILES, device=view.device)
        cell, steps = (torch.arange(count, device=view.device) for count in (TILES, self.tile))
        top = cell // GRID * tall + (luck[0] * (tall - self.tile + 1)).long()
        left = cell % GRID * wide + (luck[1] * (wide - self.tile + 1)).long()
        rows, columns = top[..., None] + steps, left[..., None] + steps
        return _taken(view, rows[..., None] * view.shape[-1] + columns[..., None, :])


def _taken(view: Float[Tensor, "B C H W"], place: Int[Tensor, "B 9 T T"]) -> Float[Tensor, "B 9 C T T"]:
    flat = view.flatten(2)
    found = flat.gather(2, place.flatten(1)[:, None].expand(-1, flat.shape[1], -1))
    return found.unflatten(2, place.shape[1:]).transpose(1, 2)


def _vectors(said: Tensor) -> Float[Tensor, "N F"]:
    return said.mean((2, 3)) if said.ndim == 4 else said


@torch.no_grad()
def _layer(encoder: nn.Module, layer: str | None, tile: int) -> tuple[str, int]:
    """The layer that tiles are taken from, and how many numbers it has."""
    first = next((part for part in encoder.modules() if isinstance(part, nn.Conv2d)), None)
    if first is None or not callable(getattr(encoder, "features", None)):
        raise ValueError(
            f"a jigsaw wants an encoder of pictures that shows its features(), got a {type(encoder).__name__}"
        )
    found = encoder.eval().features(torch.zeros(1, first.in_channels, tile, tile))  # pyright: ignore
    encoder.train()
    chosen = layer or next(name for name in reversed(found) if name != "embedding")
    if chosen not in found:
        raise ValueError(
            f"{type(encoder).__name__} has no layer '{chosen}'{did_you_mean(chosen, found)}; it has {', '.join(found)}"
        )
    return chosen, _vectors(found[chosen]).shape[1]
