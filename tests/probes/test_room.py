"""What features may take, and what they are kept in."""

import pytest
import torch

from coview.probes.room import kept_as, room


def test_float32_while_it_fits_and_float16_after_that():
    assert kept_as(9_600, 50_000, memory=9_600 * 50_000 * 4) == torch.float32
    assert kept_as(9_600, 50_000, memory=9_600 * 50_000 * 4 - 1) == torch.float16
    assert kept_as(9_600, 50_000, memory=9_600 * 50_000 * 2) == torch.float16


def test_what_does_not_fit_is_told_before_it_is_made():
    with pytest.raises(
        ValueError, match=r"9,600 numbers of 1,331,167 samples take 23.8 GiB even as float16, and 2.0"
    ):
        kept_as(9_600, 1_331_167, memory=2**31)


def test_this_machine_has_room():
    assert 2**26 < room(torch.device("cpu")) < 2**44
