"""The bounds as their papers write them, pair by pair."""

import math

import torch


def off_diagonal(scores):
    """The scores of all wrong pairs of N samples, row by row."""
    return [[float(s) for j, s in enumerate(row) if j != i] for i, row in enumerate(scores)]


def donsker_varadhan(scores):
    wrong = [math.exp(s) for row in off_diagonal(scores) for s in row]
    return float(scores.diagonal().mean()) - math.log(sum(wrong) / len(wrong))


def nwj(scores, log_z):
    wrong = [math.exp(s - log_z) for row in off_diagonal(scores) for s in row]
    return float(scores.diagonal().mean()) - log_z + 1 - sum(wrong) / len(wrong)


def infonce(scores):
    losses = [-math.log(math.exp(row[i]) / sum(math.exp(s) for s in row)) for i, row in enumerate(scores)]
    return math.log(len(scores) - 1) - sum(losses) / len(losses)


def interpolated(scores, log_z, alpha):
    """Equation 8 of Poole et al. (2019), with the constant exp(log_z) in the place of the baseline q."""
    right, wrong = 0.0, 0.0
    for row, own in zip(off_diagonal(scores), scores.diagonal().tolist(), strict=True):
        everyone = (sum(math.exp(s) for s in row) + math.exp(own)) / (len(row) + 1)
        right += own - math.log(alpha * everyone + (1 - alpha) * math.exp(log_z))
        others = sum(math.exp(s) for s in row) / len(row)
        wrong += others / (alpha * others + (1 - alpha) * math.exp(log_z))
    return 1 + right / len(scores) - wrong / len(scores)


def best_score(first, second, correlation):
    """log p(x, y) / p(x) p(y) of Gaussian components that are correlated one to one, for all pairs."""
    covariance = torch.tensor([[1.0, correlation], [correlation, 1.0]], dtype=torch.float64)
    both = torch.distributions.MultivariateNormal(torch.zeros(2, dtype=torch.float64), covariance)
    one = torch.distributions.Normal(0.0, 1.0)
    pairs = torch.stack(torch.broadcast_tensors(first[:, None].double(), second[None].double()), -1)
    return (both.log_prob(pairs) - one.log_prob(pairs).sum(-1)).sum(-1)
