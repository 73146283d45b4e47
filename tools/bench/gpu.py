# PyTorch's side of the gpu group. It holds operands on the device and measures on request. It prints PyTorch's version;
# then a line with a JSON object {"what", "sizes", "calls"} comes in, a line with the seconds of one call and some results goes out.
import contextlib, json, sys, time

import torch

device = sys.argv[1]
torch.set_grad_enabled(False)
held = {}  # operands of the last case


def clock():
    """Returns a function that gives the seconds since the last call of it, by the device's clock."""
    if device == "cpu":
        marks = [time.perf_counter()]

        def since():
            marks.append(time.perf_counter())
            return marks[-1] - marks[-2]
        return since
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()

    def since():
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3
    return since


def numbers(rows, columns, factor):
    """The same numbers on both sides, which look random: even steps around a circle, which only ever nearly meet."""
    n = torch.arange(rows * columns, dtype=torch.int64, device=device)
    n.mul_(factor).remainder_(1 << 24)
    return (n.float().reshape(rows, columns) / (1 << 23) - 1).contiguous()


def pattern(scale, *shape):
    """The numbers of the train group."""
    n = 1
    for size in shape:
        n *= size
    i = torch.arange(n)
    return (((31 * i * i + 17 * i) % 1009).float() - 504).mul(scale / 291).reshape(shape).to(device)


def matmul(sizes, dtype, fast=None):
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    m, k, n = sizes
    kinds = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16, "fp8": torch.float8_e4m3fn}
    x = numbers(m, k, 10368889).to(kinds[dtype])
    y = numbers(n, k, 7368787).to(kinds[dtype])  # rows of the transpose
    if dtype == "fp8":
        one = torch.ones((), device=device)
        return lambda: torch._scaled_mm(x, y.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=fast is not None)
    y = y.t().contiguous()
    return lambda: x.matmul(y)


class Cruncher(torch.nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.weights = torch.nn.ParameterList([torch.nn.Parameter(pattern(i**-0.5, i, o)) for i, o in zip(widths, widths[1:])])

    def forward(self, x):
        for w in self.weights:
            x = x @ w
        return x.squeeze(-1)


class MLP(torch.nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(i, o, device=device) for i, o in zip(widths, widths[1:])])
        with torch.no_grad():
            for layer in self.layers:
                layer.weight.copy_(pattern(layer.in_features**-0.5, layer.out_features, layer.in_features))
                layer.bias.zero_()

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = layer(x).relu()
        return self.layers[-1](x)


def step(sizes, kind):
    torch.backends.cuda.matmul.allow_tf32 = False
    batch, widths = sizes[0], sizes[1:]
    x = pattern(1, batch, widths[0])
    if kind == "Cruncher":
        model, y = Cruncher(widths), pattern(1, batch)
        opt, loss_of = torch.optim.SGD(model.parameters(), lr=1e-3), torch.nn.functional.mse_loss
    else:
        model, y = MLP(widths), (torch.arange(batch) % widths[-1]).to(device)
        opt, loss_of = torch.optim.AdamW(model.parameters(), lr=1e-3), torch.nn.functional.cross_entropy

    def train():
        with torch.enable_grad():
            loss = loss_of(model(x), y)
        loss.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
        return loss.detach()
    return train


def operation(sizes, what):
    x = numbers(sizes[0], sizes[1], 10368889)
    return {
        "add": lambda: x.add(x), "gelu": lambda: torch.nn.functional.gelu(x), "softmax": lambda: x.softmax(1), "sum": lambda: x.sum(1),
    }[what]


def both_ways(sizes, what, dtype, backend=None):
    """Forward and backward of one operation."""
    kind = {"fp32": torch.float32, "bf16": torch.bfloat16}[dtype]

    def make(factor, *shape):
        rows = 1
        for size in shape[:-1]:
            rows *= size
        return numbers(rows, shape[-1], factor).to(kind).view(shape).requires_grad_()
    F = torch.nn.functional
    if what == "attention":
        b, h, t, d = sizes
        leaves = [make(factor, b, t, h, d) for factor in (10368889, 7368787, 5368709)]

        def f():
            with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION) if backend else contextlib.nullcontext():
                return F.scaled_dot_product_attention(*(x.transpose(1, 2) for x in leaves), is_causal=True)
    elif what == "norm":
        leaves = [make(10368889, *sizes), make(7368787, 1, sizes[1])]
        f = lambda: F.rms_norm(leaves[0], sizes[1:], leaves[1].view(-1), 1e-5)
    elif what == "swiglu":
        leaves = [make(10368889, *sizes), make(7368787, *sizes)]
        f = lambda: F.silu(leaves[0]) * leaves[1]
    else:
        leaves = [make(10368889, *sizes)]
        target = (torch.arange(sizes[0]) * 7919 % sizes[1]).to(device)

        def f():
            with torch.autocast(device, kind):
                return F.cross_entropy(leaves[0], target)

    def run():
        with torch.enable_grad():
            out = f()
            out.sum().backward()
        for x in leaves:
            x.grad = None
        return out.detach()
    return run


class Block(torch.nn.Module):
    def __init__(self, D, heads):
        super().__init__()
        hidden = (D * 8 // 3 + 63) // 64 * 64
        self.heads = heads
        self.q, self.k, self.v, self.o = (linear(D, D) for _ in range(4))
        self.w1, self.w2, self.w3 = linear(D, hidden), linear(hidden, D), linear(D, hidden)
        self.ln1, self.ln2 = torch.nn.RMSNorm(D, eps=1e-5), torch.nn.RMSNorm(D, eps=1e-5)

    def forward(self, x, turn, cache=None, start=0):
        h = self.ln1(x)
        q, k, v = (p(h).unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in (self.q, self.k, self.v))
        q, k, n = turn(q, start), turn(k, start), q.shape[-2]
        if cache is not None:
            cache[0][:, :, start : start + n] = k
            cache[1][:, :, start : start + n] = v
            k, v = cache[0][:, :, : start + n], cache[1][:, :, : start + n]
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=n > 1)
        x = x + self.o(out.transpose(1, 2).flatten(-2))
        h = self.ln2(x)
        return x + self.w2(torch.nn.functional.silu(self.w1(h)) * self.w3(h))


def linear(d_in, d_out):
    layer = torch.nn.Linear(d_in, d_out, bias=False)
    torch.nn.init.trunc_normal_(layer.weight, std=(2 / (d_in + d_out)) ** 0.5)
    return layer


class LM(torch.nn.Module):
    """The lm group's model."""
    def __init__(self, D, layers, heads, T, V):
        super().__init__()
        self.embeddings = torch.nn.Embedding(V, D)
        self.layers = torch.nn.ModuleList([Block(D, heads) for _ in range(layers)])
        self.norm, self.head = torch.nn.RMSNorm(D, eps=1e-5), linear(D, V)
        angle = torch.outer(torch.arange(2 * T).double(), 10000.0 ** (-torch.arange(0, D // heads, 2).double() / (D // heads)))
        self.cos, self.sin = angle.cos().float().to(device), angle.sin().float().to(device)

    def turn(self, x, start):
        c, s = (table[start : start + x.shape[-2]].to(x.dtype) for table in (self.cos, self.sin))
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)

    def forward(self, ids, caches=None, start=0):
        x = self.embeddings(ids)
        for i, block in enumerate(self.layers):
            x = block(x, self.turn, caches and caches[i], start)
        return self.head(self.norm(x if caches is None else x[:, -1]))


def language_model(sizes, what):
    D, layers, heads, T, B, V = sizes
    model = LM(D, layers, heads, T, V).to(device)
    ids = (torch.arange(B * (T + 1)) * 7919 % V).reshape(B, T + 1).to(device)
    if what == "step":
        x, y = ids[:, :-1].contiguous(), ids[:, 1:].contiguous()
        opt = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

        def train():
            with torch.enable_grad(), torch.autocast(device, torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
            loss.backward()
            opt.step()
            opt.zero_grad(set_to_none=True)
            return loss.detach()
        return train
    model = model.to(torch.bfloat16)
    caches = [[torch.zeros(B, heads, 2 * T, D // heads, dtype=torch.bfloat16, device=device) for _ in range(2)] for _ in range(layers)]
    if what == "prefill":
        return lambda: model(ids[:, :T], caches)
    return lambda: model(ids[:, :1], caches, T)


def prepare(what, sizes):
    held.clear()
    kind, *rest = what.split()
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    if kind in ("attention", "norm", "swiglu", "loss"):
        held["call"] = both_ways(sizes, kind, *rest)
    elif kind == "lm":
        held["call"] = language_model(sizes, *rest)
    else:
        held["call"] = matmul(sizes, *rest) if kind == "matmul" else step(sizes, *rest) if kind == "step" else operation(sizes, kind)


if device == "cuda" and not torch.cuda.is_available():
    sys.exit(f"PyTorch {torch.__version__} finds no GPU")
print(json.dumps(torch.__version__), flush=True)
for line in sys.stdin:
    case = json.loads(line)
    name = case["what"], tuple(case["sizes"])
    if held.get("name") != name:
        prepare(*name)
        held["name"] = name
        out = held["call"]()  # warm up
        held["some"] = [] if name[0] in ("lm prefill", "lm decode") else out.reshape(-1)[:8].float().tolist()
        del out
    since = clock()
    for _ in range(case["calls"]):
        held["call"]()
    answer = {"seconds": since() / case["calls"], "some": held["some"]}
    if name[0].startswith("lm ") and device == "cuda":
        answer["peak"] = torch.cuda.max_memory_allocated()
    print(json.dumps(answer), flush=True)
