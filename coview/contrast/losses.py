"""One number per anchor for its choice among the candidates: the softmax (equation 2) and NCE (appendix B.1)."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from coview import processes
from coview.contrast.exact import exact_softmax, sharded_softmax
from coview.types import Candidates


def softmax_loss(query: Float[Tensor, "B D"], candidates: Candidates) -> Float[Tensor, "B"]:
    """-log of the probability that a softmax over the candidates gives to the match; the mean over several matches."""
    keys, match, valid = candidates.keys, candidates.match, candidates.valid
    if candidates.shard is not None:
        return sharded_softmax(query, keys, valid, candidates.shard)
    shared = keys.ndim == 2 and (valid is None or valid.ndim == 1)
    if shared and match.ndim == 1 and not keys.requires_grad:
        with _full_precision(query):
            return exact_softmax(query, keys, match, valid)
    score = scores(query, candidates)
    if match.ndim == 1:
        return F.cross_entropy(score, match, reduction="none")
    chosen = score.gather(1, match)
    if candidates.rivals:
        return score.logsumexp(1) - chosen.mean(1)
    return -F.logsigmoid(chosen - _log_wrong(score, match)).mean(1)


class NCELoss(nn.Module):
    """Tell the match from m noise samples, each drawn with probability 1/N, under the model exp(score) / Z.

    Z is a constant for the gradient, as in the paper: from the first batch; a running mean, for small sets
    on which the first batch misleads; or "exact", each anchor's own sum over its candidates (scaled to all
    samples where they are a part of them). Of several matches the mean is taken.
    """

    log_z: Tensor

    def __init__(self, samples: int, normaliser: str = "first_batch", *, memory: float = 0.99) -> None:
        super().__init__()
        if normaliser not in ("first_batch", "running", "exact"):
            raise ValueError(f"normaliser must be 'first_batch', 'running' or 'exact', got '{normaliser}'")
        self.samples, self.normaliser, self.memory = samples, normaliser, memory
        self.register_buffer("log_z", torch.tensor(math.nan, dtype=torch.float64))
        self._estimate: Tensor | None = None  # of the last batch, kept by update()

    def forward(self, query: Float[Tensor, "B D"], candidates: Candidates) -> Float[Tensor, "B"]:
        score = scores(query, candidates)
        there = torch.isfinite(score)
        match = candidates.match if candidates.match.ndim == 2 else candidates.match[:, None]
        noise = there.sum(1) - (1 if candidates.rivals else match.shape[1])  # m
        log_noise = noise.clamp(min=1).to(score.dtype).log() - math.log(self.samples)  # log(m / N)
        log_odds = score - self._log_z(score.detach(), there) - log_noise[:, None]  # log of P / (m / N)
        log_d1 = F.logsigmoid(log_odds.gather(1, match)).mean(1)
        log_d0 = F.logsigmoid(-log_odds).masked_fill(~there, 0)
        if candidates.rivals:  # noise for each match are all others
            return -(log_d1 + log_d0.sum(1) - log_d0.gather(1, match).mean(1))
        return -(log_d1 + log_d0.scatter(1, match, 0).sum(1))

    def update(self) -> None:
        """Remember the normaliser of the last batch, as far as it counts."""
        if self._estimate is None or self.normaliser == "exact":
            return
        old, new = self.log_z, self._estimate
        kept = old if self.normaliser == "first_batch" else self._mean(old, new)
        self.log_z.copy_(torch.where(old.isnan(), new, kept))
        self._estimate = None

    def _mean(self, old: Tensor, new: Tensor) -> Tensor:
        return torch.logaddexp(old + math.log(self.memory), new + math.log1p(-self.memory))

    def _log_z(self, score: Tensor, there: Tensor) -> Tensor:
        """log Z: N times the mean of exp(score), over each anchor's candidates or over the whole batch."""
        if self.normaliser == "exact":
            return (score.logsumexp(1) - there.sum(1).log() + math.log(self.samples))[:, None]
        total = processes.sum_of_logs(score.double().logsumexp((0, 1)))
        self._estimate = total - processes.total(there.sum()).log() + math.log(self.samples)
        known = self.log_z if self.normaliser == "first_batch" else self._mean(self.log_z, self._estimate)
        return torch.where(self.log_z.isnan(), self._estimate, known).to(score.dtype)


def scores(query: Float[Tensor, "B D"], candidates: Candidates) -> Float[Tensor, "B K"]:
    """query . key for every candidate, in float32 or wider; -inf where there is none."""
    if candidates.shard is not None:
        raise ValueError(
            "the scores of a sharded bank are never in one place: it goes with the softmax, Bank with any loss"
        )
    with _full_precision(query):
        wide = query if query.dtype == torch.float64 else query.float()
        keys = candidates.keys.to(wide.dtype)
        score = wide @ keys.T if keys.ndim == 2 else torch.einsum("bd,bkd->bk", wide, keys)
        return score if candidates.valid is None else score.masked_fill(~candidates.valid, -torch.inf)


def _log_wrong(score: Float[Tensor, "B K"], match: Int[Tensor, "B P"]) -> Float[Tensor, "B 1"]:
    """logsumexp of the scores of all but the matches: one sum for all of an anchor's questions."""
    least = (
        torch.finfo(score.dtype).min / 2
    )  # as good as -inf, but with a gradient where there is no wrong choice
    return score.scatter(1, match, least).logsumexp(1, keepdim=True)


def _full_precision(query: Tensor) -> torch.autocast:
    # exp(cosine / 0.07) overflows half precision above a cosine of 0.776
    return torch.autocast(query.device.type, enabled=False)
