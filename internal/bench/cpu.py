# Times NumPy (on OpenBLAS) and, where it is installed, PyTorch. Standard input of the process is this file; the
# arguments are the library, the number of threads and the cases as JSON. It prints the seconds of a call of each case.
import json, sys, time

library, threads, cases = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])

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
    calls = {
        "xy": lambda x, y: lambda: x @ y,
        "add": lambda x, y: lambda: x + y, "mul": lambda x, y: lambda: x * y,
        "exp": lambda x, y: lambda: torch.exp(x), "tanh": lambda x, y: lambda: torch.tanh(x),
        "sum": lambda x, y: lambda: torch.sum(x), "gelu": lambda x, y: lambda: torch.nn.functional.gelu(x),
        "softmax": lambda x, y: lambda: torch.softmax(x.view(-1, 1024), -1),
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


def fastest(call, budget):
    call()
    best, reps, end = 1e9, 1, time.perf_counter() + budget
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(reps):
            call()
        took = time.perf_counter() - start
        best = min(best, took / reps)
        if took < 2e-4:
            reps *= 2
    return best


answer = []
for c in cases:
    what, dtype, sizes = c["what"], c["dtype"], c["sizes"]
    if library == "numpy" and (what not in calls and what not in ("xyT", "xTy") or dtype == "bfloat16"):
        answer.append(0)
        continue
    if what in ("xy", "xyT", "xTy"):
        m, k, n = sizes
        x = array(dtype, k, m).T if what == "xTy" else array(dtype, m, k)
        y = array(dtype, n, k).T if what == "xyT" else array(dtype, k, n)
        call = calls["xy"](x, y)
    else:
        call = calls[what](array(dtype, sizes[0]), array(dtype, sizes[0]))
    answer.append(fastest(call, c["budget"]))
    time.sleep(0.02)
print(json.dumps({"version": version, "seconds": answer}))
