# PyTorch's side of the gpu group. It holds operands on the device and measures on request. It prints PyTorch's version;
# then a line with a JSON object {"what", "sizes", "calls"} comes in, a line with the seconds of one call and some results goes out.
import json, sys, time

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


def prepare(what, sizes):
    held.clear()
    kind, *rest = what.split()
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
        held["some"] = out.reshape(-1)[:8].float().tolist()
        del out
    since = clock()
    for _ in range(case["calls"]):
        held["call"]()
    print(json.dumps({"seconds": since() / case["calls"], "some": held["some"]}), flush=True)
