"""Several processes with a part of the batch each learn what one learns with all of it, and remember the same."""

import crew
import pytest
import torch
from warm import together

from coview.contrast import CosineCritic, NCELoss, Objective, ShardedBank, full_graph
from coview.contrast.negatives.sharded import BLOCK, stretch


@pytest.fixture(scope="module")
def alone():
    return crew.everything()


@pytest.fixture(scope="module", params=[2, 3])
def several(request, tmp_path_factory):
    return together(crew.everything, folder=tmp_path_factory.mktemp("several"), processes=request.param)


@pytest.mark.parametrize("case", [str(case) for case in crew.CASES])
def test_loss_gradient_and_memory_are_those_of_one_process(case, alone, several):
    for found in several:
        assert found[case].keys() == alone[case].keys()
        for name, right in alone[case].items():
            torch.testing.assert_close(found[case][name], right, rtol=1e-5, atol=1e-5, msg=f"{case}: {name}")
        for name in found[case]:
            if name.startswith(("rows", "weight")):
                assert torch.equal(found[case][name], several[0][case][name]), f"{case}: {name} differ"


@pytest.mark.parametrize("start", ["", ", empty"])
@pytest.mark.parametrize("gaps", [False, True])
def test_a_sharded_bank_gives_what_a_whole_one_gives(start, gaps, alone):
    whole, parts = (
        alone[str((f"bank{start}", "softmax", gaps))],
        alone[str((f"sharded{start}", "softmax", gaps))],
    )
    assert whole.keys() == parts.keys()
    for name, right in whole.items():
        torch.testing.assert_close(parts[name], right, rtol=1e-5, atol=1e-5, msg=name)


def test_stretches_hold_everybody_once():
    for samples, count in ((37, 1), (37, 5), (10**10, 1024)):
        ends = [stretch(samples, process, count) for process in range(count)]
        assert [first for first, _ in ends[1:]] == [last for _, last in ends[:-1]]
        assert (ends[0][0], ends[-1][1]) == (0, samples)
        sizes = [last - first for first, last in ends]
        assert max(sizes) - min(sizes) <= 1


def test_random_rows_do_not_depend_on_who_holds_them(monkeypatch):
    samples = 2 * BLOCK + 11
    whole = ShardedBank(["v", "w"], samples, 3)
    torch.manual_seed(0)
    monkeypatch.setattr("coview.processes.count", lambda: 5)
    monkeypatch.setattr("coview.contrast.negatives.sharded._luck", lambda: luck)
    monkeypatch.setattr("coview.processes.least", lambda values: values)
    luck = int(torch.randint(2**40, (1,)))
    for process in range(5):
        monkeypatch.setattr("coview.processes.rank", lambda process=process: process)
        part = ShardedBank(["v", "w"], samples, 3)
        assert part.held in (samples // 5, samples // 5 + 1)
        for view in ("v", "w"):
            assert torch.equal(part.rows(view), whole.rows(view)[part.first : part.last])
    assert not torch.equal(whole.rows("v"), whole.rows("w"))
    assert whole.rows("v").norm(dim=1).mean() == pytest.approx(1, abs=0.05)


def test_memory_falls_with_the_number_of_processes(monkeypatch):
    monkeypatch.setattr("coview.processes.least", lambda values: values)
    monkeypatch.setattr("coview.contrast.negatives.sharded._luck", lambda: 0)
    held = []
    for count in (1, 2, 4):
        monkeypatch.setattr("coview.processes.count", lambda count=count: count)
        held.append(sum(value.nbytes for value in ShardedBank(["v"], 800, 16).part().values()))
    assert held == [held[0], held[0] // 2, held[0] // 4]


def test_parts_are_taken_over_by_other_numbers_of_processes():
    torch.manual_seed(1)
    old, new = ShardedBank(["v"], 37, 4), ShardedBank(["v"], 37, 4, start="empty")
    stretches = [stretch(37, process, 3) for process in range(3)]
    new.load_parts((a, {name: value[a:b] for name, value in old.part().items()}) for a, b in stretches)
    assert torch.equal(new.rows("v"), old.rows("v"))
    assert new.steady


def test_it_goes_with_the_softmax_alone():
    bank = ShardedBank(["a", "b"], 20, 5)
    objective = Objective(full_graph(["a", "b"]), CosineCritic(), bank, NCELoss(20))
    with pytest.raises(ValueError, match="it goes with the softmax, Bank with any loss"):
        objective({view: torch.randn(3, 5) for view in ("a", "b")}, torch.tensor([4, 1, 7]))


def test_a_bank_that_cannot_be_divided(monkeypatch):
    monkeypatch.setattr("coview.processes.count", lambda: 8)
    with pytest.raises(ValueError, match="7 samples cannot be divided among 8 processes: use Bank"):
        ShardedBank(["v"], 7, 4)


def test_an_index_outside_the_bank():
    with pytest.raises(IndexError, match="sample index 37 is outside the bank of 37 samples"):
        ShardedBank(["v"], 37, 4).update({"v": torch.randn(2, 4)}, torch.tensor([3, 37]))
