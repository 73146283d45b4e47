"""Trains what tinylm trains, on its token files, with PyTorch: the same model, optimizer, schedule and number of steps.

    go run ./nn/train/tinylm -out run
    python nn/train/tinylm/pytorch.py run

Needs torch and numpy. It prints the loss on the same held-out sequences, and the seconds that the steps took.
"""

import argparse
import math
import time

import numpy as np
import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("folder")
for name, value in [("vocabulary", 2048), ("context", 128), ("layers", 4), ("width", 192), ("heads", 6), ("batch", 16), ("steps", 1500), ("threads", 2)]:
    parser.add_argument("--" + name, type=int, default=value)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--bf16", action="store_true")
o = parser.parse_args()
torch.manual_seed(1)
torch.set_num_threads(o.threads)
T, B, D, H = o.context, o.batch, o.width, o.heads
hidden = (D * 8 // 3 + 63) // 64 * 64


def normal(std, *shape):
    return torch.nn.Parameter(torch.nn.init.trunc_normal_(torch.empty(shape), 0, std, -3 * std, 3 * std))


def linear(d_in, d_out):
    layer = torch.nn.Linear(d_in, d_out, bias=False)
    layer.weight = normal(math.sqrt(2 / (d_in + d_out)), d_out, d_in)
    return layer


angle = torch.outer(torch.arange(T).double(), 10000.0 ** (-torch.arange(0, D // H, 2).double() / (D // H)))
cos, sin = angle.cos().float(), angle.sin().float()


def rotate(x):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (linear(D, D) for _ in range(4))
        self.w1, self.w2, self.w3 = linear(D, hidden), linear(hidden, D), linear(D, hidden)
        self.ln1, self.ln2 = torch.nn.RMSNorm(D, eps=1e-5), torch.nn.RMSNorm(D, eps=1e-5)

    def forward(self, x):
        h = self.ln1(x)
        q, k, v = (p(h).unflatten(-1, (H, -1)).transpose(1, 2) for p in (self.q, self.k, self.v))
        out = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        x = x + self.o(out.transpose(1, 2).flatten(-2))
        h = self.ln2(x)
        return x + self.w2(F.silu(self.w1(h)) * self.w3(h))


class LM(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = torch.nn.Embedding(o.vocabulary, D, _weight=normal(1, o.vocabulary, D))
        self.blocks = torch.nn.Sequential(*(Block() for _ in range(o.layers)))
        self.norm, self.head = torch.nn.RMSNorm(D, eps=1e-5), linear(D, o.vocabulary)

    def loss(self, x, y):
        with torch.autocast("cpu", torch.bfloat16, enabled=o.bf16):
            return F.cross_entropy(self.head(self.norm(self.blocks(self.embeddings(x)))).flatten(0, 1).float(), y.flatten())


def rate(step):
    warmup = o.steps // 20
    if step < warmup:
        return o.lr * step / warmup
    return o.lr / 10 + 0.9 * o.lr * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (o.steps - warmup)))


train, valid = (torch.from_numpy(np.fromfile(f"{o.folder}/{name}.bin", np.uint16).astype(np.int64)) for name in ("train", "valid"))
model = LM()
optimizer = torch.optim.AdamW(model.parameters(), lr=o.lr, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
start = time.perf_counter()
for step in range(o.steps):
    at = torch.randint(len(train) - T - 1, (B,))
    batch = torch.stack([train[i : i + T + 1] for i in at])
    optimizer.param_groups[0]["lr"] = rate(step)
    loss = model.loss(batch[:, :-1], batch[:, 1:])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if (step + 1) % 25 == 0:
        seconds = time.perf_counter() - start
        print(f"step {step + 1}/{o.steps}  loss {loss.item():.3f}  {(step + 1) * B * T / seconds:.0f} tokens/s", flush=True)
seconds = time.perf_counter() - start
count = (len(valid) - 1) // T
n = min(256, count)
with torch.no_grad():
    starts = [i * count // n * T for i in range(n)]
    losses = [model.loss(valid[None, i : i + T], valid[None, i + 1 : i + T + 1]).item() for i in starts]
print(f"held-out loss {sum(losses) / len(losses):.4f} nats a token, after {seconds:.0f} s")
