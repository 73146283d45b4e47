"""What the programs beside have in common: a case has the inputs, how the results are weighted (the gradient that arrives
at each), what PyTorch returned and the gradient of each input. Layouts are not its affair: the test lays the inputs out
in several. The same torch on the same processor writes the same files.
"""

import gzip
import json
import math
import os
import random

import torch

inf, nan = math.inf, math.nan
cases = []
draw = random.Random(18)

F64, F32, F16, BF16, I64, I32, U8, BOOL = (torch.float64, torch.float32, torch.float16, torch.bfloat16,
                                           torch.int64, torch.int32, torch.uint8, torch.bool)
FLOATS, WHOLE = (F64, F32, BF16, F16), (I64, I32, U8)
RTOL = {F64: 1e-12, F32: 3e-6, F16: 2e-3, BF16: 1.6e-2}


def name(dtype):
    return str(dtype).removeprefix("torch.")


def numbers(t):
    def one(v):
        if isinstance(v, float) and not math.isfinite(v):
            return "nan" if v != v else "inf" if v > 0 else "-inf"
        return v
    return [one(v) for v in t.detach().to(torch.float64 if t.is_floating_point() else t.dtype).reshape(-1).tolist()]


def described(t):
    return {"dtype": name(t.dtype), "shape": list(t.shape), "data": numbers(t)}


def some(dtype, *shape, low=-2.0, high=2.0):
    """Numbers that every float of 16 bits holds exactly."""
    n = math.prod(shape)
    if dtype == BOOL:
        values = [draw.random() < 0.5 for _ in range(n)]
    elif not dtype.is_floating_point:
        values = [draw.randrange(0 if dtype == U8 else -5, 6) for _ in range(n)]
    else:
        values = [round(draw.uniform(low, high) * 64) / 64 for _ in range(n)]
    return torch.tensor(values, dtype=dtype).reshape(shape)


def apart(dtype, *shape):
    """Numbers without ties."""
    n = math.prod(shape)
    values = list(range(n)) if dtype == U8 else list(range(-(n // 2), n - n // 2))
    draw.shuffle(values)
    t = torch.tensor(values, dtype=dtype).reshape(shape)
    return t * 0.25 if dtype.is_floating_point else t


def of(dtype, *values):
    return torch.tensor(values, dtype=dtype)


def ask(op, inputs, f, grads=True, exact=False, note="", scale=1.0, atol=None, **args):
    """Adds the case f(*inputs). Gradients are those of all floating-point inputs. atol is the relative tolerance unless given."""
    inputs = [x.clone() for x in inputs]
    dtypes = [x.dtype for x in inputs if x.is_floating_point()]
    half = any(d in (F16, BF16) for d in dtypes)
    grads = grads and dtypes != [] and (exact or not half)
    for x in inputs:
        if grads and x.is_floating_point():
            x.requires_grad_()
    dtype = max(dtypes, key=lambda d: RTOL[d]) if dtypes else F64
    rtol = 0.0 if exact else RTOL[dtype] * scale
    case = {
        "op": op, "source": "torch " + torch.__version__.split("+")[0], "notes": note, "args": args,
        "inputs": [{"name": f"x{i}", **described(x), "requires_grad": x.requires_grad} for i, x in enumerate(inputs)],
        "tol": {"rtol": rtol, "atol": rtol if atol is None else atol},
    }
    cases.append(case)
    try:
        results = f(*inputs)
        results = [r for r in (results if isinstance(results, (tuple, list)) else [results])]
    except (RuntimeError, IndexError, ValueError, NotImplementedError) as e:
        case["expect_error"] = {"kind": "refused", "peer_type": type(e).__name__, "peer_message": str(e).split("\n")[0][:120]}
        return
    case["expect"] = {"tensors": [described(r) for r in results]}
    if not grads:
        return
    weights, loss = [], 0
    for r in results:
        if not r.requires_grad:
            weights.append(None)
            continue
        w = some(r.dtype, *r.shape)
        weights.append(numbers(w))
        loss = loss + (r * w).sum()
    args["weights"] = weights
    if isinstance(loss, torch.Tensor):
        loss.backward()
    case["expect"]["grads"] = [None if x.grad is None else described(x.grad) for x in inputs]


def write(family):
    """Writes ../testdata/FAMILY.json.gz."""
    named = [{"id": f"{family}-{i:04d}", **case} for i, case in enumerate(cases)]
    for case in named:
        if not case["notes"]:
            del case["notes"]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "testdata", family + ".json.gz")
    text = json.dumps({"family": family, "schema": 1, "count": len(named), "cases": named}, separators=(",", ":"))
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as f:
        f.write(text.encode())
    print(f"{len(named)} cases, {os.path.getsize(path)} bytes")
