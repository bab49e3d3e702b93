"""Closed forms: each is the other's inverse, and samples have what they promise."""

import math

import pytest
import torch

from coview.information import (
    covariance_information,
    gaussian_correlation,
    gaussian_information,
    gaussian_pairs,
)


@pytest.mark.parametrize("nats", [0.0, 0.5, 3.0, 8.0])
@pytest.mark.parametrize("dimensions", [1, 2, 20])
def test_correlation_is_the_inverse(nats, dimensions):
    assert gaussian_information(gaussian_correlation(nats, dimensions), dimensions) == pytest.approx(nats)


def test_covariance_of_correlated_components_gives_the_same():
    correlation = 0.6
    covariance = torch.eye(6)
    covariance[:3, 3:] = covariance[3:, :3] = correlation * torch.eye(3)
    assert covariance_information(covariance, 3) == pytest.approx(gaussian_information(correlation, 3))


def test_covariance_information_does_not_change_with_the_units():
    torch.manual_seed(1)
    root = torch.randn(5, 5, dtype=torch.float64)
    covariance = root @ root.T
    units = torch.diag(torch.tensor([3.0, 0.1, 7.0, 1e-3, 2.0], dtype=torch.float64))
    assert covariance_information(units @ covariance @ units, 2) == pytest.approx(
        covariance_information(covariance, 2)
    )


def test_samples_have_the_information_they_were_asked_for():
    first, second = gaussian_pairs(1.5, 3, 40_000, generator=torch.Generator().manual_seed(0))
    covariance = torch.cov(torch.cat([first, second], 1).T)
    assert covariance_information(covariance, 3) == pytest.approx(1.5, abs=0.03)
    assert math.isclose(float(second.std()), 1.0, abs_tol=0.02)


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="wanted 0 nats or more in 1 dimension or more, got -1 in 2"):
        gaussian_correlation(-1, 2)
    with pytest.raises(ValueError, match="3 of 3 components leave one side empty"):
        covariance_information(torch.eye(3), 3)
    with pytest.raises(ValueError, match="some component is fixed by the others"):
        covariance_information(torch.ones(2, 2), 1)
