"""Any network of timm as an encoder."""

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from coview.names import did_you_mean


def timm_encoder(name: str, channels: int, *, dim: int = 128, **arguments: Any) -> "TimmEncoder":
    """The network that timm knows by a name, with an embedding; a transformer needs its `img_size` as well."""
    try:
        import timm
    except ImportError as error:
        raise ImportError(f"the network '{name}' comes from timm: pip install 'coview[timm]'") from error
    if not timm.is_model(name):
        near = did_you_mean(name, timm.list_models())
        raise ValueError(f"timm has no network '{name}'{near}; timm.list_models() names all")
    network = timm.create_model(name, in_chans=channels, num_classes=0, **arguments)
    return TimmEncoder(network, dim=dim)


class TimmEncoder(nn.Module):
    """A network without its classifier, and an embedding; features are the stages by timm's names, pooled."""

    def __init__(self, network: Any, *, dim: int) -> None:
        super().__init__()
        self.network = network
        self.stages = [stage["module"] for stage in network.feature_info]
        self.embedding = nn.Linear(getattr(network, "head_hidden_size", network.num_features), dim)

    def features(self, view: Float[Tensor, "B C H W"]) -> dict[str, Tensor]:
        """Every stage, in order, the embedding last."""
        found: dict[str, Tensor] = {}
        if hasattr(self.network, "forward_intermediates"):
            last, stages = self.network.forward_intermediates(view)
            found |= zip(self.stages, stages, strict=True)
            found["pooled"] = self.network.forward_head(last)
        else:  # some networks of older versions do not show their stages
            found["pooled"] = self.network(view)
        found["embedding"] = self.embedding(found["pooled"])
        return found

    def forward(self, view: Float[Tensor, "B C H W"]) -> Float[Tensor, "B D"]:
        return self.embedding(self.network(view))
