"""From an embedding to a small map: the paper leaves the decoder open, this is ours."""

from jaxtyping import Float
from torch import Tensor, nn


class Decoder(nn.Module):
    """A hidden layer makes maps of about 4x4, which double up to `side`, with a convolution each.

    It starts at the embedding, so that every layer of the encoder learns, the last hidden one among them. Group norm
    needs no other samples: any number of them may have both views.
    """

    def __init__(self, dim: int, outputs: int, *, side: int = 16, width: int = 128) -> None:
        super().__init__()
        sides = [side]
        while sides[0] > 4:
            sides.insert(0, -(-sides[0] // 2))
        first = nn.Linear(dim, width * sides[0] ** 2, bias=False)
        self.hidden = nn.Sequential(first, nn.Unflatten(1, (width, sides[0], sides[0])), *_normed(width))
        self.larger = nn.Sequential(*(_doubled(width, size) for size in sides[1:]))
        self.last = nn.Conv2d(width, outputs, 1)

    def forward(self, embedding: Float[Tensor, "B D"]) -> Float[Tensor, "B O S S"]:
        return self.last(self.larger(self.hidden(embedding)))


def _doubled(width: int, side: int) -> nn.Sequential:
    convolution = nn.Conv2d(width, width, 3, padding=1, bias=False)
    return nn.Sequential(nn.Upsample((side, side)), convolution, *_normed(width))


def _normed(width: int) -> tuple[nn.Module, nn.Module]:
    return nn.GroupNorm(8, width), nn.ReLU(inplace=True)
