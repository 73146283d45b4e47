# The peers of the tensor group. best.py stands before it. Called as: python - CALL; prints one JSON object.
import json
import sys

import torch

CALLS = {
    "add": lambda x, y: x.add(y),
    "mul by 2": lambda x, y: x.mul(2),
    "transpose": lambda x, y: x.t(),
    "matmul": lambda x, y: x.matmul(y),
    "sum": lambda x, y: x.sum(),
    "softmax": lambda x, y: x.softmax(1),
    "first row": lambda x, y: x[0],
    "to bfloat16": lambda x, y: x.to(torch.bfloat16),
}


torch.set_num_threads(1)
torch.set_grad_enabled(False)
call = CALLS[sys.argv[1]]
x = (torch.arange(64).reshape(8, 8) % 5).float()
y = (torch.arange(64).reshape(8, 8) % 3).float()
z = call(x, y)
seconds = best_of(lambda: call(x, y), 20000)
print(json.dumps({"seconds": seconds, "sum": f"{list(z.shape)} {z.double().sum().item():.3f}"}))
