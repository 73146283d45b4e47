# The peers of the sweep group. best.py stands before it. Called as: python - THREADS EXPRESSION|DTYPE|SIDE|LAYOUT...; prints
# the seconds of each case.
import json
import sys
import time

import torch
import torch.nn.functional as F

torch.set_num_threads(int(sys.argv[1]))
torch.set_grad_enabled(False)
torch.manual_seed(1)


def operands(dtype, n, layout):
    def matrix(low, high):
        shape = (1 if layout == "broadcast" else n, n)
        if dtype == "f":
            return torch.rand(shape) * (high - low) + low
        if dtype == "b":
            return torch.rand(shape) > 0.5
        if dtype == "u":
            low, high = 0, high - low
        return torch.randint(low, high + 1, shape, dtype={"i": torch.int32, "l": torch.int64, "u": torch.uint8, "s": torch.int16}[dtype])

    def arranged(t):
        return t.t() if layout == "transposed" else t.expand(n, n)

    def square(t):
        return arranged(t.expand(n, n).contiguous())

    return {"a": square(matrix(-3, 3)), "b": arranged(matrix(-3, 3)), "c": arranged(matrix(1, 4)),
            "m": square(torch.rand(n, n) > 0.5), "i": square(torch.randint(0, n, (n, n))), "v": torch.rand(n)}


seconds = []
for case in sys.argv[2:]:
    expression, dtype, side, layout = case.rsplit("|", 3)
    names = operands(dtype, int(side), layout)
    names.update(torch=torch, F=F)
    call = eval("lambda: " + expression, names)
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-6)
    seconds.append(best_of(call, max(1, int(0.002 / once)), 5))
print(json.dumps(seconds))
