"""What processes tell each other, and that one alone tells itself the same."""

import crew
import torch
from warm import together

from coview import processes


def test_two_processes(tmp_path):
    zero, one = together(crew.messages, folder=tmp_path)
    both = torch.cat([torch.arange(6).view(2, 3), torch.arange(9).view(3, 3) + 100])
    logs = torch.tensor([float("-inf"), -2000.0, 3.0])
    for found in (zero, one):
        assert torch.equal(found["rows"], both)
        assert found["none"].shape == (0, 3)
        assert torch.equal(found["logs"], torch.stack([logs, logs + 5]).logsumexp(0))
        assert found["as first"].tolist() == [0, 7, 0.5]
        assert found["slope of total"].tolist() == [3, 3]
        assert found["reach"].tolist() == [0, 1]
        assert found["first places"].tolist() == [0, 1, 0, 3, 1, 1]
    assert (zero["first"].tolist(), one["first"].tolist()) == ([0, 0], [2, 2])
    assert torch.equal(torch.cat([zero["slope"], one["slope"]]), 2 * (1 + 4) * both.double())
    assert (zero["share"].flatten().tolist(), one["share"].flatten().tolist()) == ([0, 3, 6, 9], [12, 15])
    assert (zero["even share"].flatten().tolist(), one["even share"].flatten().tolist()) == (
        [0, 2, 4],
        [6, 8, 10],
    )


def test_one_process_is_told_what_it_said():
    values = torch.randn(4, 3)
    assert (processes.count(), processes.rank()) == (1, 0)
    assert processes.gather(values) is values
    assert processes.gather_rows(values) == (values, 0)
    assert processes.gather_keys(values) == (values, 0)
    for same in (processes.total, processes.mean, processes.least, processes.greatest, processes.sum_of_logs):
        assert torch.equal(same(values), values)
    assert torch.equal(processes.share_out(values, 0, 4), values)
    processes.as_first([values])
    processes.wait()
