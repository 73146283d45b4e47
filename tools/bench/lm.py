# The peers of the lm group. best.py stands before it. Called as: python - KIND THREADS DTYPE D LAYERS HEADS T B; prints one JSON object.
import json
import resource
import sys

import torch
import torch.nn.functional as F

kind, threads, dtype = sys.argv[1], int(sys.argv[2]), sys.argv[3]
D, layers, heads, T, B = map(int, sys.argv[4:9])
V, hidden = 10000, (D * 8 // 3 + 63) // 64 * 64
torch.set_num_threads(threads)


def linear(d_in, d_out):
    layer = torch.nn.Linear(d_in, d_out, bias=False)
    layer.weight = torch.nn.Parameter(pattern((2 / (d_in + d_out)) ** 0.5, d_out, d_in))
    return layer


angle = torch.outer(torch.arange(1024).double(), 10000.0 ** (-torch.arange(0, D // heads, 2).double() / (D // heads)))
cos, sin = angle.cos().float(), angle.sin().float()


def rotate(x, start):
    """Turns pairs of neighbors of x [B H T d]."""
    n = x.shape[-2]
    c, s = cos[start : start + n].to(x.dtype), sin[start : start + n].to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (linear(D, D) for _ in range(4))
        self.w1, self.w2, self.w3 = linear(D, hidden), linear(hidden, D), linear(D, hidden)
        self.ln1, self.ln2 = torch.nn.RMSNorm(D, eps=1e-5), torch.nn.RMSNorm(D, eps=1e-5)

    def forward(self, x, cache=None, start=0):
        h = self.ln1(x)
        q, k, v = (p(h).unflatten(-1, (heads, -1)).transpose(1, 2) for p in (self.q, self.k, self.v))
        q, k = rotate(q, start), rotate(k, start)
        n = q.shape[-2]
        if cache is not None:
            cache[0][:, :, start : start + n] = k
            cache[1][:, :, start : start + n] = v
            k, v = cache[0][:, :, : start + n], cache[1][:, :, : start + n]
        out = F.scaled_dot_product_attention(q, k, v, is_causal=n > 1)
        x = x + self.o(out.transpose(1, 2).flatten(-2))
        h = self.ln2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class LM(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = torch.nn.Embedding(V, D, _weight=pattern(1, V, D))
        self.layers = torch.nn.ModuleList([Block() for _ in range(layers)])
        self.norm = torch.nn.RMSNorm(D, eps=1e-5)
        self.head = linear(D, V)

    def forward(self, ids):
        x = self.embeddings(ids)
        for block in self.layers:
            x = block(x)
        return self.head(self.norm(x))

    def next(self, ids, caches, start):
        x = self.embeddings(ids)
        for block, cache in zip(self.layers, caches):
            x = block(x, cache, start)
        return self.head(self.norm(x[:, -1]))


def training(model):
    ids = (torch.arange(B * (T + 1)) * 7919 % V).reshape(B, T + 1)
    x, y = ids[:, :-1].contiguous(), ids[:, 1:].contiguous()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step():
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bf16"):
            loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
        return loss

    for _ in range(2):
        loss = step()
    return {"seconds": best_of(step, 1, rounds=3), "sum": str(loss.item()), "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10}


@torch.inference_mode()
def inference(model):
    caches = [[torch.zeros(B, heads, T + 129, D // heads) for _ in range(2)] for _ in range(layers)]
    ids = (torch.arange(B * T) * 7919 % V).reshape(B, T)

    def prefill():
        return model.next(ids, caches, 0)

    first = prefill()
    if kind == "prefill":
        return {"seconds": best_of(prefill, 1), "sum": str(first.abs().sum().item())}

    def decode():
        x = first.argmax(-1, keepdim=True)
        for i in range(128):
            x = model.next(x, caches, T + i).argmax(-1, keepdim=True)
        return x

    decode()
    return {"seconds": best_of(decode, 1, rounds=3) / 128, "sum": str(first.abs().sum().item())}


model = LM()
print(json.dumps(training(model) if kind == "step" else inference(model)))
