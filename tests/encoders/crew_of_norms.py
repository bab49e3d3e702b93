"""What each process does in the tests of batch norm over several."""

import torch
from torch import nn

from coview import processes
from coview.encoders import Encoders, SlowEncoders, synchronise

CPU = torch.device("cpu")


def network(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(2, 5, 3), nn.BatchNorm2d(5, momentum=0.3), nn.Flatten(), nn.BatchNorm1d(60, affine=False)
    )


def pictures(samples: int) -> torch.Tensor:
    return torch.randn(samples, 2, 5, 6, generator=torch.Generator().manual_seed(1)) * 3 + 1


def normed(rows: list[int]) -> dict[str, torch.Tensor]:
    """Outputs, gradients and statistics of a network on unequal parts of a batch, as many rows as named."""
    net = network()
    synchronise(net, CPU)
    synchronise(net, CPU)  # twice is once
    mine = pictures(sum(rows)).split(rows)[processes.rank()].requires_grad_()
    found = net(mine)
    goal = torch.randn(sum(rows), 60, generator=torch.Generator().manual_seed(2)).split(rows)[
        processes.rank()
    ]
    (found * goal).sum().backward()
    assert mine.grad is not None
    slopes = {
        f"slope {name}": processes.total(value.grad)
        for name, value in net.named_parameters()
        if value.grad is not None
    }
    everyone, _ = processes.gather_rows(found)
    by_input, _ = processes.gather_rows(mine.grad)
    return {
        "found": everyone.detach(),
        "input": by_input,
        **slopes,
        **net.state_dict(),
        "still": net.eval()(pictures(3)).detach(),
    }


def with_gaps() -> torch.Tensor:
    """A view of which the second process has one sample, then none."""
    encoders = Encoders({"v": network()})
    synchronise(encoders, CPU)
    found = []
    for theirs in (1, 0):
        have = torch.arange(4) < (4 if processes.rank() == 0 else theirs)
        said = encoders({"v": pictures(4)}, {"v": have})["v"]
        said.square().sum().backward()
        found.append(said.detach())
    return torch.stack(found)


def keys(groups: int) -> torch.Tensor:
    """Keys of this process's samples; the batch norm tells among whom they were encoded."""
    view = pictures(8)[processes.rank() * 4 :][:4]
    torch.manual_seed(processes.rank())
    same = nn.Linear(60, 60, bias=False)
    nn.init.eye_(same.weight)
    plain = SlowEncoders(Encoders({"v": nn.Sequential(nn.Flatten(), same)}), 0.9, groups=groups)
    torch.testing.assert_close(plain({"v": view})["v"], view.flatten(1))
    return SlowEncoders(Encoders({"v": network()}), 0.9, groups=groups)({"v": view})["v"]
