# The peers of the slow group. best.py stands before it. Called as: python - THREADS CASE...; prints the seconds of each case.
import json
import sys

import torch

torch.set_num_threads(int(sys.argv[1]))
torch.set_grad_enabled(False)
torch.manual_seed(1)
n = 1 << 20
x, y, long = torch.rand(1024, 1024) + 0.5, torch.rand(1024, 1024) + 0.5, torch.rand(128, 8192)
cube = x.view(64, 256, 64)
a32, b32 = torch.randint(1, 1000, (n,), dtype=torch.int32), torch.randint(1, 1000, (n,), dtype=torch.int32)
rows = torch.randint(0, 1024, (1024,))
at = torch.randint(0, 1024, (1024, 1024))
mask = x > 1
row, column = y[0].clone(), y[:, :1].clone()
CASES = {
    "pow 3": lambda: x.pow(3), "pow -1": lambda: x.pow(-1), "pow 1.5": lambda: x.pow(1.5), "pow of tensors": lambda: x.pow(y),
    "topk 50 of 8192": lambda: long.topk(50), "fmod": lambda: x.fmod(y), "remainder": lambda: x.remainder(y),
    "randn": lambda: torch.randn(n), "rand": lambda: torch.rand(n), "int32 add": lambda: a32 + b32, "int32 mul": lambda: a32 * b32,
    "int32 sum": lambda: a32.sum(), "int32 less": lambda: a32 < b32, "sort rows": lambda: long.sort(-1), "sort columns": lambda: x.sort(0),
    "contiguous of a transpose": lambda: x.t().contiguous(), "contiguous of a cube": lambda: cube.transpose(0, 2).contiguous(),
    "add of a transpose": lambda: x + y.t(), "exp of a transpose": lambda: x.t().exp(),
    "softmax 0": lambda: x.softmax(0), "softmax 1": lambda: x.softmax(1), "log softmax 0": lambda: x.log_softmax(0),
    "sum 0": lambda: x.sum(0), "sum 1": lambda: x.sum(1), "sum in the middle": lambda: cube.sum(1), "max 0": lambda: x.amax(0), "max 1": lambda: x.amax(1),
    "var 0": lambda: x.var(0), "norm 0": lambda: x.norm(dim=0), "prod 1": lambda: x.prod(1), "logsumexp 0": lambda: x.logsumexp(0),
    "argmax 0": lambda: x.argmax(0), "argmax 1": lambda: x.argmax(1), "tril": lambda: x.tril(), "triu": lambda: x.triu(1),
    "index select rows": lambda: x.index_select(0, rows), "index select columns": lambda: x.index_select(1, rows),
    "mul by a row": lambda: x * row, "mul by a column": lambda: x * column, "row by column": lambda: row * column,
    "cumsum 0": lambda: x.cumsum(0), "cumsum 1": lambda: x.cumsum(1), "where": lambda: torch.where(mask, x, y), "masked fill": lambda: x.masked_fill(mask, 0),
    "gather 1": lambda: x.gather(1, at), "gather 0": lambda: x.gather(0, at), "scatter add 1": lambda: x.scatter_add(1, at, y), "index add": lambda: x.index_add(0, rows, y),
    "flip 1": lambda: x.flip(1), "cat 1": lambda: torch.cat((x, y), 1), "lerp": lambda: x.lerp(y, 0.3), "addcmul": lambda: x.addcmul(x, y, value=0.5),
    "logaddexp": lambda: torch.logaddexp(x, y), "clamp": lambda: x.clamp(0.7, 1.2), "maximum": lambda: torch.maximum(x, y), "sign": lambda: x.sign(),
    "less": lambda: x < y, "isnan": lambda: x.isnan(), "not": lambda: ~mask, "to int32": lambda: x.to(torch.int32), "to bfloat16": lambda: x.to(torch.bfloat16),
    "leaky relu": lambda: torch.nn.functional.leaky_relu(x), "elu": lambda: torch.nn.functional.elu(x), "median 1": lambda: long.median(1), "roll": lambda: x.roll(3, 1),
}
seconds = []
for name in sys.argv[2:]:
    call = CASES[name]
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-6)
    seconds.append(best_of(call, max(1, int(0.004 / once)), 5))
print(json.dumps(seconds))
