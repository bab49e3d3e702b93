"""The exact softmax by every way there is here, against float64 on the same keys."""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from coview.contrast import CosineCritic, backends_for, exact_softmax
from coview.contrast.exact import attention, choice
from coview.contrast.exact.merge import take_off

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])
CASES = [
    (device, dtype, backend)
    for device in DEVICES
    for dtype in (torch.float32, torch.bfloat16, torch.float16)
    for backend in sorted(
        backends_for(torch.zeros(500, 16, dtype=dtype, device=device))
    )  # alike in all workers
]
# Relative errors of loss and gradient: of all anchors together, as norms.
BOUNDS = {torch.float32: (1e-5, 1e-5), torch.bfloat16: (1e-3, 2e-3), torch.float16: (1e-3, 1e-3)}


def truth(query: Tensor, keys: Tensor, match: Tensor, valid: Tensor | None) -> tuple[Tensor, Tensor]:
    """Loss and slope with all scores at hand, in float64."""
    wide = query.detach().double().requires_grad_()
    scores = wide @ keys.double().T
    if valid is not None:
        scores = scores.masked_fill(~valid, -torch.inf)
    loss = F.cross_entropy(scores, match, reduction="none")
    return loss.detach(), torch.autograd.grad(loss.sum(), wide)[0]


def compare(query: Tensor, keys: Tensor, match: Tensor, valid: Tensor | None, backend: str | None) -> None:
    query = query.detach().requires_grad_()
    loss = exact_softmax(query, keys, match, valid, backend=backend)
    (slope,) = torch.autograd.grad(loss.sum(), query)
    right = truth(query, keys, match, valid)
    bounds = BOUNDS[keys.dtype]
    for found, expected, bound in zip((loss, slope), right, bounds, strict=True):
        assert found.shape == expected.shape
        assert (found.double() - expected).norm() <= bound * expected.norm() + 1e-6, backend


def problem(device: str, dtype: torch.dtype, anchors: int, count: int, dim: int, *, near: float = 0.0):
    """Random unit keys; queries as near to their match as `near` says, by a temperature of 0.07."""
    keys = F.normalize(torch.randn(count, dim), dim=1).to(device, dtype)
    match = torch.randint(count, (anchors,), device=device)
    anchor = near * keys[match].float() + F.normalize(torch.randn(anchors, dim), dim=1).to(device)
    return CosineCritic(0.07)(anchor), keys, match


@pytest.mark.parametrize(("device", "dtype", "backend"), CASES)
@pytest.mark.parametrize("near", [0.0, 0.5, 1.0])
def test_loss_and_gradient_are_those_of_float64(device, dtype, backend, near):
    compare(*problem(device, dtype, 37, 3001, 48, near=near), None, backend)


@pytest.mark.parametrize(("device", "dtype", "backend"), CASES)
@pytest.mark.parametrize("dim", [16, 20, 64, 100, 128, 256])
def test_any_number_of_dimensions(device, dtype, backend, dim):
    compare(*problem(device, dtype, 9, 1300, dim), None, backend)


@pytest.mark.parametrize(("device", "dtype", "backend"), CASES)
@pytest.mark.parametrize(("anchors", "count"), [(1, 1), (1, 131), (3, 1), (65, 2), (5, 127), (130, 4099)])
def test_any_number_of_anchors_and_keys(device, dtype, backend, anchors, count):
    compare(*problem(device, dtype, anchors, count, 24), None, backend)


@pytest.mark.parametrize(("device", "dtype", "backend"), CASES)
@pytest.mark.parametrize("share", [0.03, 0.5, 0.97])
def test_absent_rows_are_taken_off(device, dtype, backend, share):
    query, keys, match = problem(device, dtype, 21, 2311, 40)
    valid = torch.rand(len(keys), device=device) >= share
    valid[match] = True
    keys[~valid] = torch.nan  # whatever they hold
    compare(query, keys.nan_to_num(0), match, valid, backend)
    assert exact_softmax(query, keys, match, valid, backend=backend).isfinite().all()


@pytest.mark.parametrize(("device", "dtype", "backend"), CASES)
def test_absent_rows_that_outweigh_all_others_are_taken_off_too(device, dtype, backend):
    """Every valid key points away from every query: what is left of the sum is a millionth."""
    _, keys, match = problem(device, dtype, 6, 900, 32)
    side = torch.zeros(32, device=device)
    side[0] = 30.0
    keys = F.normalize(keys.float() * 0.1 - side / 30, dim=1).to(dtype)
    valid = torch.arange(len(keys), device=device) % 3 == 0
    valid[match] = True
    compare(side.expand(6, 32), keys, match, valid, backend)


@pytest.mark.parametrize(("device", "dtype", "backend"), CASES)
def test_queries_without_gradient_and_under_autocast(device, dtype, backend):
    query, keys, match = problem(device, dtype, 7, 700, 32)
    plain = exact_softmax(query, keys, match, backend=backend)
    assert not plain.requires_grad
    with torch.autocast(device, torch.bfloat16):
        cast = exact_softmax(query, keys, match, backend=backend)
    assert cast.dtype == torch.float32
    assert torch.equal(cast, plain)
    half = exact_softmax(query.bfloat16(), keys, match, backend=backend)
    torch.testing.assert_close(half, plain, rtol=0.02, atol=0.02)


def test_it_compiles_without_a_break():
    """In a process of its own: the shape checks of this suite are not made to be compiled."""
    script = Path(__file__).with_name("compiling.py")
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr[-2000:]
    assert sorted(ended.stdout.split()) == sorted(
        backend for *_, backend in CASES
    )  # which is fastest may differ


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize(("device", "dtype", "backend"), [case for case in CASES if case[0] == "cuda"])
def test_it_can_be_captured(device, dtype, backend):
    query, keys, match = problem(device, dtype, 11, 700, 32)
    query.requires_grad_()
    valid = torch.arange(len(keys), device=device) % 5 != 0
    valid[match] = True

    def work():
        query.grad = None
        loss = exact_softmax(query, keys, match, valid, backend=backend)
        loss.sum().backward()
        return loss

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = work()
    with torch.no_grad():
        query.copy_(query.roll(1, 0))
    graph.replay()
    right = truth(query, keys, match, valid)
    for found, expected, bound in zip((loss, query.grad), right, BOUNDS[dtype], strict=True):
        assert (found.double() - expected).norm() <= bound * expected.norm()


def test_a_second_derivative_is_refused():
    query, keys, match = problem("cpu", torch.float32, 4, 300, 16)
    query.requires_grad_()
    (slope,) = torch.autograd.grad(exact_softmax(query, keys, match).sum(), query, create_graph=True)
    with pytest.raises(RuntimeError, match=r"does not require grad|once_differentiable"):
        slope.sum().backward()


def test_every_slice_counts(monkeypatch):
    """As on a machine of many cores: slices, a rest that fills none, and several calls for very many keys."""
    query, keys, match = problem("cpu", torch.float32, 5, 2999, 16)
    monkeypatch.setattr(attention, "_slices", lambda *_: 7)
    monkeypatch.setattr(attention, "MOST", 1000 * 16)
    compare(query, keys, match, None, "flash_cpu")


def test_a_kernel_that_fails_or_lies_is_not_used_and_said_once(monkeypatch):
    keys = torch.zeros(400, 16)

    def broken(query, keys):
        raise RuntimeError("no such operator")

    for kernel, reason in ((broken, "no such operator"), (lambda q, k: (q * 0, q[..., 0]), "off by")):
        attention.PROBED.clear()
        monkeypatch.setitem(attention.KERNELS, "flash_cpu", ("cpu", kernel))
        with pytest.warns(UserWarning, match=reason) as said:
            assert backends_for(keys) == ["chunked"]
        assert len(said) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert backends_for(keys) == ["chunked"]
    attention.PROBED.clear()


def test_the_fastest_way_is_measured_once_a_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    seconds = {"slow": 3.0, "fast": 1.0}
    measured = []
    monkeypatch.setattr(choice, "_times", lambda calls: measured.append(1) or {n: seconds[n] for n in calls})
    for _ in range(3):
        choice._order.cache_clear()
        assert choice.fastest_first(["slow", "fast"], lambda way: lambda: way) == ["fast", "slow"]
        seconds = {"slow": 1.0, "fast": 3.0}  # it stays as it was: runs on one machine go one way
    assert len(measured) == 1
    (kept,) = json.loads((tmp_path / "coview/exact-softmax.json").read_text()).values()
    assert kept == ["fast", "slow"]
    (tmp_path / "coview/exact-softmax.json").write_text("not JSON")
    choice._order.cache_clear()
    assert choice.fastest_first(["slow", "fast"], lambda way: lambda: way) == ["slow", "fast"]
    choice._order.cache_clear()


def test_where_nothing_can_be_kept_nothing_is_measured(monkeypatch, tmp_path):
    (tmp_path / "coview").write_text("a file in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    choice._order.cache_clear()
    assert choice.fastest_first(["first", "second"], lambda way: lambda: way) == ["first", "second"]
    choice._order.cache_clear()


def test_zeros_are_taken_off_a_sum():
    logs, keys = torch.randn(3, 50).double(), torch.randn(50, 2).double()
    whole = torch.cat([logs, torch.zeros(3, 9).double()], 1)
    expected = whole.softmax(1)[:, :50] @ keys
    found = take_off(whole.logsumexp(1), expected, torch.tensor(9))
    torch.testing.assert_close(found[0], logs.logsumexp(1))
    torch.testing.assert_close(found[1], logs.softmax(1) @ keys)
    torch.testing.assert_close(found[2], whole.softmax(1)[:, :50].sum(1))
    nothing = take_off(logs.logsumexp(1), logs.softmax(1) @ keys, torch.tensor(0))
    torch.testing.assert_close(nothing[0], logs.logsumexp(1))
