# Times NumPy (on OpenBLAS) or, where it is installed, PyTorch. The arguments are the library and the number of threads.
# It prints the library's version, and then, for each case that it reads as a line of JSON, {"seconds"} of a call, 0 if the
# library does not have it.
import json, sys, time

library, threads = sys.argv[1], int(sys.argv[2])

import numpy as np
rng = np.random.default_rng(1)

if library == "torch":
    try:
        import torch
    except ImportError:
        sys.exit("PyTorch is not installed there")
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    version = torch.__version__

    def array(dtype, *shape):
        return torch.from_numpy(rng.standard_normal(shape)).to(getattr(torch, dtype))
    def norm(x):
        w, b = torch.ones(1024), torch.zeros(1024)
        return lambda: torch.nn.functional.layer_norm(x, (1024,), w, b)
    calls = {
        "xy": lambda x, y: lambda: x @ y,
        "add": lambda x, y: lambda: x + y, "mul": lambda x, y: lambda: x * y,
        "exp": lambda x, y: lambda: torch.exp(x), "tanh": lambda x, y: lambda: torch.tanh(x),
        "sum": lambda x, y: lambda: torch.sum(x), "gelu": lambda x, y: lambda: torch.nn.functional.gelu(x),
        "softmax": lambda x, y: lambda: torch.softmax(x.view(-1, 1024), -1),
        "layernorm": lambda x, y: norm(x.view(-1, 1024)),
    }
else:
    version = np.__version__

    def array(dtype, *shape):
        return rng.standard_normal(shape).astype(dtype)
    calls = {
        "xy": lambda x, y: lambda: x @ y,
        "add": lambda x, y: lambda: x + y, "mul": lambda x, y: lambda: x * y,
        "exp": lambda x, y: lambda: np.exp(x), "tanh": lambda x, y: lambda: np.tanh(x),
        "sum": lambda x, y: lambda: x.sum(),
    }


def typical(call, budget):
    """The median seconds of a call over series of 2 ms."""
    reps, start = 0, time.perf_counter()
    while time.perf_counter() - start < 0.012:  # to warm up
        call()
        reps += 1
    reps = max(1, int(reps * 0.002 / (time.perf_counter() - start)))
    times, end = [], time.perf_counter() + budget
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        for _ in range(reps):
            call()
        times.append((time.perf_counter() - start) / reps)
    return sorted(times)[len(times) // 2]


def seconds(what, dtype, sizes, budget, **ours):
    if library == "numpy" and (what not in calls and what not in ("xyT", "xTy") or dtype == "bfloat16"):
        return 0
    if what in ("xy", "xyT", "xTy"):
        m, k, n = sizes
        x = array(dtype, k, m).T if what == "xTy" else array(dtype, m, k)
        y = array(dtype, n, k).T if what == "xyT" else array(dtype, k, n)
        call = calls["xy"](x, y)
    else:
        call = calls[what](array(dtype, sizes[0]), array(dtype, sizes[0]))
    return typical(call, budget)


print(json.dumps(version), flush=True)
for line in sys.stdin:
    print(json.dumps({"seconds": seconds(**json.loads(line))}), flush=True)
