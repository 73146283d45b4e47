# The peers of the train and checkpoint groups. best.py stands before it. Called as: python - KIND THREADS ARGS...; prints one JSON object.
import json
import sys

import torch

kind, threads = sys.argv[1], int(sys.argv[2])
torch.set_num_threads(threads)


class Dense(torch.nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.weight = torch.nn.Parameter(pattern(d_in**-0.5, d_in, d_out))

    def forward(self, x):
        return x @ self.weight


class Cruncher(torch.nn.Module):
    def __init__(self, dim, layers):
        super().__init__()
        self.layers = torch.nn.ModuleList([Dense(dim, dim) for _ in range(layers)])
        self.final = Dense(dim, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.final(x).squeeze(-1)


def cruncher(dim, layers, batch, calls):
    model = Cruncher(dim, layers)
    x, y = pattern(1, batch, dim), pattern(1, batch)
    return model, torch.optim.SGD(model.parameters(), lr=1e-3), lambda: torch.nn.functional.mse_loss(model(x), y), calls


def mlp(batch, calls, *sizes):
    layers = []
    for i in range(len(sizes) - 1):
        if i > 0:
            layers.append(torch.nn.ReLU())
        linear = torch.nn.Linear(sizes[i], sizes[i + 1])
        with torch.no_grad():
            linear.weight.copy_(pattern(sizes[i] ** -0.5, sizes[i + 1], sizes[i]))
            linear.bias.zero_()
        layers.append(linear)
    model = torch.nn.Sequential(*layers)
    x, y = pattern(1, batch, sizes[0]), torch.arange(batch) % sizes[-1]
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3), lambda: torch.nn.functional.cross_entropy(model(x), y), calls


def training(model, opt, loss_of, calls):
    def step():
        loss = loss_of()
        loss.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
        return loss

    for _ in range(5):
        loss = step()
    seconds = best_of(step, calls)
    return {"seconds": seconds, "sum": str(loss.item())}


def load(path, how):
    from safetensors.torch import load_file

    model = None
    if how == "model":
        shapes = [t.shape for t in load_file(path).values()]
        model = torch.nn.Module()
        model.layers = torch.nn.ModuleList([torch.nn.Module() for _ in shapes])
        for layer, shape in zip(model.layers, shapes):
            layer.weight = torch.nn.Parameter(torch.zeros(shape))

    def run():
        tensors = load_file(path)
        if model is not None:
            model.load_state_dict(tensors)
        return sum(t.sum().item() for t in tensors.values()) if how == "touch" else 0

    total = run()
    if model is not None:
        total = sum(p.detach().sum().item() for p in model.parameters())
    return {"seconds": best_of(run, 1), "sum": str(total)}


args = sys.argv[3:]
if kind == "cruncher":
    answer = training(*cruncher(*map(int, args)))
elif kind == "mlp":
    answer = training(*mlp(*map(int, args)))
else:
    answer = load(args[0], args[1])
print(json.dumps(answer))
