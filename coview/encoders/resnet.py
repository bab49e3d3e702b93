"""Residual networks of any depth, width and number of channels."""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor, nn


class ResNet(nn.Module):
    """A ResNet with 64 * width planes in its first stage; features stem, layer1 to layer4, pooled.

    That number is rounded to a multiple of eight, and doubles from stage to stage. The "imagenet" stem is 64 wide at
    every width; the "cifar" stem is as wide as the first stage, and does not shrink the image.
    """

    def __init__(
        self,
        channels: int,
        *,
        depth: int = 50,
        width: float = 1.0,
        dim: int = 128,
        stem: str = "imagenet",
        head: str = "linear",
    ) -> None:
        super().__init__()
        _check_known("depth", depth, tuple(DEPTHS))
        _check_known("stem", stem, ("imagenet", "cifar"))
        _check_known("head", head, ("linear", "mlp"))
        block, growth, counts = DEPTHS[depth]
        planes = 8 * max(round(8 * width), 1)
        size = 64 if stem == "imagenet" else planes
        self.layers = nn.ModuleDict({"stem": _stem(channels, size, stem)})
        for n, count in enumerate(counts):
            first = block(size, planes * 2**n, 1 if n == 0 else 2)
            size = planes * 2**n * growth
            others = (block(size, planes * 2**n, 1) for _ in range(count - 1))
            self.layers[f"layer{n + 1}"] = nn.Sequential(first, *others)
        self.embedding = _head(size, dim, head)
        self.apply(_initialise)

    def features(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """Every named layer, in order, the embedding last."""
        found: dict[str, Tensor] = {}
        flow = view
        for name, layer in self.layers.items():
            flow = found[name] = layer(flow)
        found["pooled"] = flow.mean((2, 3))
        found["embedding"] = self.embedding(found["pooled"])
        return found

    def forward(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B D"]:
        return self.features(view)["embedding"]


class Residual(nn.Module):
    """What a path makes of its input, added to that input, or to a projection of it where the shape changes."""

    def __init__(self, path: nn.Module, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        same = stride == 1 and inputs == outputs
        self.path = path
        self.shortcut = nn.Identity() if same else nn.Sequential(*_normed(inputs, outputs, 1, stride))

    def forward(self, flow: Float[Tensor, "B C H W"]) -> Float[Tensor, "B P h w"]:
        return (self.path(flow) + self.shortcut(flow)).relu_()


def _basic(inputs: int, planes: int, stride: int) -> Residual:
    """Two 3x3 convolutions."""
    path = nn.Sequential(
        *_normed(inputs, planes, 3, stride), nn.ReLU(inplace=True), *_normed(planes, planes, 3, 1)
    )
    return Residual(path, inputs, planes, stride)


def _bottleneck(inputs: int, planes: int, stride: int) -> Residual:
    """A 3x3 convolution between two of 1x1, of which the last makes four times as many maps."""
    path = nn.Sequential(
        *_normed(inputs, planes, 1, 1),
        nn.ReLU(inplace=True),
        *_normed(planes, planes, 3, stride),
        nn.ReLU(inplace=True),
        *_normed(planes, 4 * planes, 1, 1),
    )
    return Residual(path, inputs, 4 * planes, stride)


DEPTHS: dict[int, tuple[Callable[[int, int, int], Residual], int, tuple[int, ...]]] = {
    18: (_basic, 1, (2, 2, 2, 2)),
    34: (_basic, 1, (3, 4, 6, 3)),
    50: (_bottleneck, 4, (3, 4, 6, 3)),
    101: (_bottleneck, 4, (3, 4, 23, 3)),
}
"""For each depth the block, how many times its planes it makes, and the number of blocks in each stage."""


def _stem(channels: int, size: int, kind: str) -> nn.Sequential:
    if kind == "cifar":
        return nn.Sequential(*_normed(channels, size, 3, 1), nn.ReLU(inplace=True))
    return nn.Sequential(
        *_normed(channels, size, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, stride=2, padding=1)
    )


def _head(inputs: int, dim: int, kind: str) -> nn.Module:
    """One layer as in the paper, or two as in MoCo v2."""
    if kind == "linear":
        return nn.Linear(inputs, dim)
    return nn.Sequential(nn.Linear(inputs, inputs), nn.ReLU(inplace=True), nn.Linear(inputs, dim))


def _normed(inputs: int, outputs: int, kernel: int, stride: int) -> tuple[nn.Module, nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    return convolution, nn.BatchNorm2d(outputs)


def _initialise(part: nn.Module) -> None:
    """The variance of gradients stays the same through the convolutions, as is usual for these networks."""
    if isinstance(part, nn.Conv2d):
        nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")


def _check_known(what: str, got: int | str, known: tuple[int | str, ...]) -> None:
    if got not in known:
        raise ValueError(f"wanted as {what} one of {', '.join(map(repr, known))}, got {got!r}")
