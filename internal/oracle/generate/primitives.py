"""Writes ../testdata/primitives.json.gz: what PyTorch answers for the rows of the table of elementwise operations.

    LECTERN_PYTHON=... go test ./internal/oracle -run TestPrimitives -update    # hands it the rows
"""

import json
import sys

import torch
import torch.nn.functional as F

from ask import F32, F64, RTOL, ask, draw, write

torch.set_num_threads(1)
for row in json.load(sys.stdin):
    call = eval(f"lambda {', '.join(row['Operands'])}: {row['Torch']}", {"torch": torch, "F": F})
    dtype = getattr(torch, row["Dtype"])
    draw.seed(row["Name"] + row["Dtype"])  # weights are those of a case, whatever rows stand before it
    inputs = [torch.tensor([float(v) for v in x], dtype=torch.float64).to(dtype) for x in row["Points"]]
    scale = 4 if dtype.is_floating_point else 4 * RTOL[F32] / RTOL[F64]  # integers give float32, or are exact
    ask(row["Name"], inputs, call, row["Gradients"], exact=row["Exact"], scale=scale, torch=row["Torch"],
        atol=torch.finfo(dtype).tiny if dtype in (F64, F32) else None)
write("primitives")
