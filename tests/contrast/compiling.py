"""Compiles the exact softmax by every way there is here, without a break, and says which they were."""

import torch
from torch.nn import functional as F

from coview.contrast import backends_for, exact_softmax


def loss(query, keys, match, valid, backend):
    return exact_softmax(2 * query, keys, match, valid, backend=backend).mean()


def compare(keys: torch.Tensor, backend: str) -> None:
    """Compiled and plain, with and without gaps."""
    query = F.normalize(torch.randn(11, keys.shape[1], device=keys.device)) / 0.1
    match = torch.arange(11, device=keys.device) * 7
    valid = torch.arange(len(keys), device=keys.device) % 5 != 0
    valid[match] = True
    torch.compiler.reset()
    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    for mask in (None, valid):
        ours, theirs = (query.clone().requires_grad_() for _ in range(2))
        first = loss(ours, keys, match, mask, backend)
        second = compiled(theirs, keys, match, mask, backend)
        first.backward()
        second.backward()
        torch.testing.assert_close(second, first)
        torch.testing.assert_close(theirs.grad, ours.grad)


if __name__ == "__main__":
    torch.manual_seed(0)
    for device in ["cpu"] + (["cuda"] if torch.cuda.is_available() else []):
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            keys = F.normalize(torch.randn(700, 32, device=device)).to(dtype)
            for backend in backends_for(keys):
                compare(keys, backend)
                print(backend)
