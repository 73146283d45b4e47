# The peers of the einops group. best.py stands before it. Called as: python - WHAT THREADS; prints one JSON object.
import json
import sys

import einops
import torch


def rearrange(pattern):
    x = torch.zeros(8, 512, 768)
    y = einops.rearrange(x, pattern, h=12)
    return {"seconds": best_of(lambda: einops.rearrange(x, pattern, h=12), 5000), "sum": str(list(y.shape))}


def scores(pattern, *shape):
    """Numbers that are small multiples of 1/8, so that every order of additions gives the same sum."""
    shape = [int(n) for n in shape]
    n = torch.Size(shape).numel()
    q = ((torch.arange(n) * 7 % 13 - 6) / 8).reshape(shape)
    k = ((torch.arange(n) * 5 % 11 - 5) / 8).reshape(shape)
    y = einops.einsum(q, k, pattern)
    weights = torch.arange(y.numel(), dtype=torch.float64) % 17
    total = (y.reshape(-1).double() * weights).sum().item()
    return {"seconds": best_of(lambda: einops.einsum(q, k, pattern), 3), "sum": f"{list(y.shape)} {total:.3f}"}


torch.set_num_threads(int(sys.argv[2]))
torch.set_grad_enabled(False)
print(json.dumps({"rearrange": rearrange, "scores": scores}[sys.argv[1]](*sys.argv[3:])))
