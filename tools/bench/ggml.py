# Measures ggml. The argument is the number of threads. It prints the library's version, and then, for each case that it
# reads as a line of JSON, the seconds of a call and a digest of the result, as ops.go does for our side, which says
# what the cases are.
import ctypes
import json
import math
import sys
import time

import ggml
import numpy as np

threads = int(sys.argv[1])
if not ggml.ggml_cpu_has_llamafile():
    sys.exit("ggml was built without its faster products: install ggml-python with CMAKE_ARGS=-DGGML_LLAMAFILE=ON")
TOGETHER = 16  # small operations in a graph, so that Python's call of a graph is not what they cost


class Graph:
    """Operands, and a graph that is computed again and again, with results in the same memory."""

    def __init__(self, megabytes=256):
        self.context = ggml.ggml_init(ggml.ggml_init_params(mem_size=megabytes << 20, mem_buffer=None, no_alloc=False))
        self.graph = ggml.ggml_new_graph_custom(self.context, 2048, True)

    def tensor(self, values):
        kinds = {"float32": ggml.GGML_TYPE_F32, "float16": ggml.GGML_TYPE_F16, "int32": ggml.GGML_TYPE_I32}
        sizes = (ctypes.c_int64 * values.ndim)(*reversed(values.shape))
        t = ggml.ggml_new_tensor(self.context, kinds[values.dtype.name], values.ndim, sizes)
        values = np.ascontiguousarray(values)
        ctypes.memmove(ggml.ggml_get_data(t), values.ctypes.data, values.nbytes)
        return t

    def expand(self, t):
        ggml.ggml_build_forward_expand(self.graph, t)

    def plan(self):
        self.cplan = ggml.ggml_graph_plan(self.graph, threads, None)
        self.work = (ctypes.c_uint8 * max(self.cplan.work_size, 1))()
        self.cplan.work_data = ctypes.cast(self.work, ctypes.POINTER(ctypes.c_uint8))
        self.pointer = ctypes.pointer(self.cplan)

    def compute(self):
        if ggml.ggml_graph_compute(self.graph, self.pointer) != 0:
            sys.exit("ggml cannot compute a graph")

    def free(self):
        ggml.ggml_free(self.context)


def read(t):
    n = ggml.ggml_nelements(t)
    return np.ctypeslib.as_array(ctypes.cast(ggml.ggml_get_data(t), ctypes.POINTER(ctypes.c_float)), (n,)).astype(np.float64)


def numbers(seed, scale, shift, *shape):
    j = np.arange(math.prod(shape), dtype=np.int64) + 7919 * seed
    return (((31 * j * j + 17 * j) % 1009 - 504) * (scale / 291) + shift).astype(np.float32).reshape(shape)


def digest(values, samples=61):
    n = len(values)
    return [n, values.mean(), math.sqrt((values**2).mean()), *(values[i * (n - 1) // (samples - 1)] for i in range(samples))]


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


def operations(g, what, sizes):
    """What adds a case to a graph, in each of the ways in which ggml has it; none where it lacks it."""
    a, b, c = (list(sizes) + [1, 1])[:3]
    context, tensor = g.context, lambda *args: g.tensor(numbers(*args))
    if what == "matmul transposed":  # a product that reads its right operand as it lies is not there
        x, y = tensor(0, 1, 0, a, b), tensor(1, 1, 0, c, b)
        return [lambda: ggml.ggml_mul_mat(context, y, x)]
    if what == "add":
        x, y = tensor(0, 1, 0, a), tensor(1, 1, 0, a)
        return [lambda: ggml.ggml_add(context, x, y)]
    if what in ("gelu", "gelu tanh"):
        x = tensor(0, 1, 0, a)
        return [lambda: (ggml.ggml_gelu_erf if what == "gelu" else ggml.ggml_gelu)(context, x)]
    if what == "sum":
        x = tensor(0, 1, 1, a)
        return [lambda: ggml.ggml_sum(context, x)]
    if what == "softmax":
        x = tensor(0, 1, 0, a, b)
        return [lambda: ggml.ggml_soft_max(context, x)]
    if what in ("layer norm", "rms norm"):
        x, weight, bias = tensor(0, 1, 0, a, b), tensor(1, 0.1, 1, b), tensor(2, 0.1, 0, b)
        if what == "rms norm":
            return [lambda: ggml.ggml_mul(context, ggml.ggml_rms_norm(context, x, 1e-5), weight)]
        return [lambda: ggml.ggml_add(context, ggml.ggml_mul(context, ggml.ggml_norm(context, x, 1e-5), weight), bias)]
    if what == "transpose":
        x = tensor(0, 1, 0, a, b)
        return [lambda: ggml.ggml_cont(context, ggml.ggml_transpose(context, x))]
    if what == "embedding":
        table, ids = tensor(0, 1, 0, a, b), g.tensor((7919 * np.arange(c) % a).astype(np.int32))
        return [lambda: ggml.ggml_get_rows(context, table, ids)]
    if what in ("attention", "causal attention"):
        q, k, v = (numbers(seed, 1, 0, a, b, c) for seed in range(3))
        visible = np.tri(b, dtype=bool) if what.startswith("causal") else np.ones((b, b), dtype=bool)
        mask = g.tensor(np.where(visible, 0, -np.inf).astype(np.float16)) if what.startswith("causal") else None
        q, k, by_size, v, scale = g.tensor(q), g.tensor(k), g.tensor(v.transpose(0, 2, 1)), g.tensor(v), c**-0.5

        def fused():  # its result is [T H d]
            out = ggml.ggml_flash_attn_ext(context, q, k, v, mask, scale, 0, 0)
            ggml.ggml_flash_attn_ext_set_prec(out, ggml.GGML_PREC_F32)
            return out, lambda values: values.reshape(b, a, c).transpose(1, 0, 2).reshape(-1)

        def steps():
            scores = ggml.ggml_soft_max_ext(context, ggml.ggml_mul_mat(context, k, q), mask, scale, 0)
            return ggml.ggml_mul_mat(context, by_size, scores)

        return [fused, steps]
    return []


def measure(what, sizes, budget):
    if what == "training step":
        return train(sizes, budget)
    best = {"seconds": 0}
    for way in range(2):
        g = Graph()
        made = operations(g, what, sizes)
        if way >= len(made):
            g.free()
            break
        first = out = made[way]()
        arranged = lambda values: values
        if isinstance(out, tuple):
            first, arranged = out
        g.expand(first)
        repeats = TOGETHER if ggml.ggml_nelements(first) <= 1 << 14 and what != "sum" else 1
        for _ in range(repeats - 1):
            g.expand(made[way]())
        g.plan()
        g.compute()
        some = digest(arranged(read(first)))
        seconds = typical(g.compute, budget) / repeats
        if best["seconds"] == 0 or seconds < best["seconds"]:
            best = {"seconds": seconds, "some": some}
        g.free()
    return best


def train(sizes, budget):
    """Two layers, as ggml's own example of training computes them: the graph of a step with its gradients and what updates the weights."""
    batch, inputs, hidden, classes = sizes
    g = Graph()
    context = g.context
    weights = [
        g.tensor(numbers(1, inputs**-0.5, 0, hidden, inputs)), g.tensor(np.zeros(hidden, np.float32)),
        g.tensor(numbers(2, hidden**-0.5, 0, classes, hidden)), g.tensor(np.zeros(classes, np.float32)),
    ]
    for w in weights:
        ggml.ggml_set_param(w)
    x, y = g.tensor(numbers(0, 1, 0, batch, inputs)), g.tensor(np.eye(classes, dtype=np.float32)[np.arange(batch) % classes])
    rate = g.tensor(np.array([0.1, 0], np.float32))  # without decay
    layer = lambda x, weight, bias: ggml.ggml_add(context, ggml.ggml_mul_mat(context, weight, x), bias)
    logits = layer(ggml.ggml_relu(context, layer(x, weights[0], weights[1])), weights[2], weights[3])
    loss = ggml.ggml_cross_entropy_loss(context, logits, y)
    ggml.ggml_set_loss(loss)
    g.expand(loss)
    ggml.ggml_build_backward_expand(context, g.graph, None)
    for w in weights:
        g.expand(ggml.ggml_opt_step_sgd(context, w, ggml.ggml_graph_get_grad(g.graph, w), rate))
    g.plan()
    ggml.ggml_graph_reset(g.graph)  # sets the gradient of the loss
    losses = []
    for _ in range(5):
        g.compute()
        losses.extend(read(loss))
    answer = {"some": digest(np.array(losses)), "seconds": typical(g.compute, budget)}
    g.free()
    return answer


print(json.dumps(ggml.ggml_version().decode()), flush=True)
for line in sys.stdin:
    print(json.dumps(measure(**json.loads(line))), flush=True)
