"""Writes ../testdata/operations.json.gz: what PyTorch answers for operations and their gradients.

    python operations.py    # needs torch 2.10 or newer
"""

import math

import torch
import torch.nn.functional as F

from ask import BF16, BOOL, F16, F32, F64, FLOATS, I32, I64, U8, WHOLE, apart, ask, inf, nan, of, some, write


def moving(d):
    """Copies and views."""
    at = of(I64, [2, 0, 1], [1, 1, 3])
    apart_ = of(I64, [2, 0, 1], [1, 2, 3])
    x = some(d, 2, 4)
    sums = d not in (BF16, F16)  # are exact
    if d != BOOL:
        ask("scatter", [x, apart_, some(d, 2, 3)], lambda x, i, v: x.scatter(1, i, v), exact=True, axis=1)
        ask("scatter", [x, of(I64, [1, 0, 1]), some(d, 2, 4)], lambda x, i, v: x.scatter(0, i, v), grads=False, exact=True, axis=0, note="values are more than positions")
        ask("scatter", [x, apart_, some(d, 2, 3)], lambda x, i, v: x.scatter(-1, i, v), exact=True, axis=-1)
        ask("scatter_add", [x, at, some(d, 2, 3)], lambda x, i, v: x.scatter_add(1, i, v), exact=sums, axis=1)
        ask("scatter_add", [x, of(I64, [1, 1, 0, 1], [1, 0, 0, 1]), some(d, 2, 4)], lambda x, i, v: x.scatter_add(0, i, v), exact=sums, axis=0)
        ask("index_add", [x, of(I64, 3, 0, 3), some(d, 2, 3)], lambda x, i, v: x.index_add(1, i, v), exact=sums, axis=1)
        ask("index_add", [x, of(I64, 1, 1, 1), some(d, 3, 4)], lambda x, i, v: x.index_add(0, i, v), exact=sums, axis=0)
        ask("index_add", [x, torch.zeros(0, dtype=I64), some(d, 0, 4)], lambda x, i, v: x.index_add(0, i, v), exact=sums, axis=0, note="none")
    for shift in (1, -3, 0, 9):
        for axis in (0, 1, -1):
            ask("roll", [some(d, 3, 4)], lambda x: x.roll(shift, axis), exact=True, axis=axis, shift=shift)
    for axis, before, behind, value in ((0, 1, 2, 1), (1, 0, 3, 0), (-1, 2, 0, 1)):
        def pad(x):
            width = [0, 0] * (x.dim() - 1 - axis % x.dim()) + [before, behind]
            return F.pad(x, width, value=value)
        ask("pad", [some(d, 2, 3)], pad, exact=True, axis=axis, before=before, behind=behind, value=value)
    for a, b in ((0, 2), (2, 0), (-1, 1), (1, 1)):
        ask("movedim", [some(d, 2, 3, 4)], lambda x: x.movedim(a, b), exact=True, source=a, to=b)
    for axis, sizes in ((1, (2, 3)), (-1, (-1, 2)), (0, (1, 2)), (1, (3, -1, 1))):
        ask("unflatten", [some(d, 2, 6)], lambda x: x.unflatten(axis, sizes), exact=True, axis=axis, sizes=sizes)
    ask("meshgrid", [some(d, 3), some(d, 2)], lambda a, b: torch.meshgrid(a, b, indexing="ij"), exact=True)
    ask("meshgrid", [some(d, 2), some(d, 1), some(d, 3)], lambda *a: torch.meshgrid(*a, indexing="ij"), exact=True)


def products(d):
    s = 8.0 if d in (F64, F32) else 1.0
    ask("dot", [some(d, 5), some(d, 5)], torch.dot, scale=s)
    ask("dot", [some(d, 0), some(d, 0)], torch.dot, scale=s, note="of nothing")
    ask("dot", [some(d, 2), some(d, 3)], torch.dot)
    ask("dot", [some(d, 2, 2), some(d, 2)], torch.dot)
    ask("mv", [some(d, 3, 4), some(d, 4)], torch.mv, scale=s)
    ask("mv", [some(d, 3, 0), some(d, 0)], torch.mv, scale=s)
    ask("mv", [some(d, 3, 4), some(d, 3)], torch.mv)
    ask("bmm", [some(d, 2, 3, 4), some(d, 2, 4, 2)], torch.bmm, scale=s)
    ask("bmm", [some(d, 0, 3, 4), some(d, 0, 4, 2)], torch.bmm, scale=s)
    ask("bmm", [some(d, 2, 3, 4), some(d, 1, 4, 2)], torch.bmm, note="batches are not broadcast")
    ask("bmm", [some(d, 3, 4), some(d, 4, 2)], torch.bmm)
    ask("outer", [some(d, 3), some(d, 4)], torch.outer, scale=s)
    ask("outer", [some(d, 0), some(d, 4)], torch.outer, scale=s)
    ask("outer", [some(d, 3, 1), some(d, 4)], torch.outer)


def counting():
    for d in WHOLE:
        ask("bincount", [some(d, 9).abs()], lambda x: x.bincount(), exact=True)
        ask("bincount", [some(d, 9).abs()], lambda x: x.bincount(minlength=10), exact=True, at_least=10)
        ask("bincount", [torch.zeros(0, dtype=d)], lambda x: x.bincount(minlength=3), exact=True, at_least=3)
    ask("bincount", [of(I64, 1, -1)], lambda x: x.bincount())
    ask("bincount", [of(F32, 1, 2)], lambda x: x.bincount())
    for d in FLOATS + WHOLE + (BOOL,):
        for shape in ((7,), (3, 4), (0,), ()):
            ask("unique", [(some(d, *shape) * 2).round().to(d) if d != BOOL else some(d, *shape)],
                lambda x: x.unique(return_inverse=True, return_counts=True), grads=False, exact=True)
    ask("unique", [of(F64, nan, 1, nan, -0.0, 0.0, inf, -inf, 1)], lambda x: x.unique(return_inverse=True, return_counts=True), grads=False, exact=True)
    for d in FLOATS + WHOLE:
        line = of(d, 0, 1, 1, 3, 4)
        for right in (False, True):
            ask("searchsorted", [line, of(d, 1, 0, 5, 2, 4)], lambda s, v: torch.searchsorted(s, v, right=right), grads=False, exact=True, right=right)
            ask("searchsorted", [line, some(d, 2, 3)], lambda s, v: torch.searchsorted(s, v, right=right), grads=False, exact=True, right=right)
            ask("searchsorted", [torch.zeros(0, dtype=d), some(d, 2)], lambda s, v: torch.searchsorted(s, v, right=right), grads=False, exact=True, right=right)
    for right in (False, True):  # with NaN it differs from NumPy: see docs/pytorch.md
        ask("searchsorted", [of(F64, -inf, 0, inf), of(F64, nan, inf, -inf, -0.0)], lambda s, v: torch.searchsorted(s, v, right=right),
            grads=False, exact=True, right=right)


def ordering():
    for d in (F64, F32):
        x = some(d, 4, 5)
        for axis in (0, 1, -1):
            for q in (0.0, 0.1, 0.5, 0.77, 1.0):
                ask("quantile", [x], lambda x: x.quantile(q, dim=axis), axis=axis, q=q, scale=4)
        ask("quantile", [of(d, 1, nan, 2)], lambda x: x.quantile(0.3, dim=0), axis=0, q=0.3, grads=False)
        ask("quantile", [of(d, 3, inf, -inf, 1)], lambda x: x.quantile(0.5, dim=0), axis=0, q=0.5)
        ask("quantile", [of(d, 3, inf, inf, 1)], lambda x: x.quantile(0.9, dim=0), axis=0, q=0.9, grads=False, note="between infinities")
        ask("quantile", [of(d, 3, inf, -inf, 1)], lambda x: x.quantile(0.1, dim=0), axis=0, q=0.1, grads=False)
        ask("quantile", [of(d, 7)], lambda x: x.quantile(0.4, dim=0), axis=0, q=0.4)
        ask("quantile", [of(d, 1, 2)], lambda x: x.quantile(1.5, dim=0), axis=0, q=1.5)
        ask("quantile", [torch.zeros(2, 0, dtype=d)], lambda x: x.quantile(0.5, dim=1), axis=1, q=0.5)
    ask("quantile", [of(I64, 1, 2)], lambda x: x.quantile(0.5, dim=0), axis=0, q=0.5)
    for d in FLOATS + WHOLE:
        for axis in (0, 1, -1):
            x = apart(d, 4, 5)
            ask("median", [x], lambda x: x.median(dim=axis), axis=axis, exact=True)
            for descending in (False, True):
                ask("sort", [some(d, 4, 5)], lambda x: x.sort(dim=axis, descending=descending, stable=True), axis=axis, descending=descending, exact=True)
            for k in (0, 1, 3):
                ask("topk", [x], lambda x: x.topk(k, dim=axis), axis=axis, k=k, exact=True)
                ask("bottomk", [x], lambda x: x.topk(k, dim=axis, largest=False), axis=axis, k=k, exact=True)
        ask("topk", [apart(d, 3)], lambda x: x.topk(4), axis=0, k=4)
        ask("sort", [torch.zeros(2, 0, dtype=d)], lambda x: x.sort(dim=1, stable=True), axis=1, exact=True)
    for d in FLOATS:
        odd = of(d, 2, nan, -inf, 0.5, inf, -0.0)
        ask("median", [of(d, 2, nan, -inf)], lambda x: x.median(dim=0), axis=0, exact=True)
        ask("median", [of(d, 2, inf, -inf, 0)], lambda x: x.median(dim=0), axis=0, exact=True)
        for descending in (False, True):
            ask("sort", [odd], lambda x: x.sort(dim=0, descending=descending, stable=True), axis=0, descending=descending, exact=True)
        ask("topk", [odd], lambda x: x.topk(3), axis=0, k=3, exact=True)
        ask("bottomk", [odd], lambda x: x.topk(3, largest=False), axis=0, k=3, exact=True)
    ask("median", [torch.zeros(2, 0)], lambda x: x.median(dim=1), axis=1)


def elementwise():
    odd = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-8, 30.0, -30.0, inf, -inf, nan]
    for d in FLOATS:
        x = torch.cat([of(d, *odd), some(d, 6)])
        for slope in (0.0, 0.01, -0.5, 1.5):
            ask("leaky_relu", [x], lambda x: F.leaky_relu(x, slope), slope=slope)
        for alpha in (1.0, 0.3):
            ask("elu", [x[~x.isnan()]], lambda x: F.elu(x, alpha), alpha=alpha)
            ask("elu", [of(d, nan)], lambda x: F.elu(x, alpha), grads=False, alpha=alpha)  # the gradient of NaN depends on PyTorch's processor
        for a, b, c in ((0.0, 9.0, -9.0), (1.5, -1.0, 2.0)):
            ask("nan_to_num", [x], lambda x: x.nan_to_num(a, b, c), nan=a, positive=b, negative=c, exact=True)
        y = torch.cat([of(d, *odd[1:], 1.0), some(d, 6)])
        for r, a in ((0.0, 0.0), (0.1, 0.0), (0.0, 2.0), (1e-5, 1e-8)):
            ask("isclose", [x, y], lambda x, y: torch.isclose(x, y, r, a, equal_nan=True), grads=False, relative=r, absolute=a)
    for d in (I64, I32):
        ask("isclose", [some(d, 8), some(d, 8)], lambda x, y: torch.isclose(x, y, 0.3, 1.0), relative=0.3, absolute=1.0)
    for d in (F64, F32):
        for op, f in (("pow", torch.pow), ("remainder", torch.remainder), ("fmod", torch.fmod), ("logaddexp", torch.logaddexp)):
            ask(op, [some(d, 3, 1), some(d, 4)], f, scale=4, note="broadcast")
            ask(op, [some(d, 2, 3, low=0.25), some(d, 3, low=0.5)], f, scale=4)
        for p in (0, 1, 2, 3, -1, 0.5, -0.5, 1.5, 2.25, -3, inf, nan):
            # To these powers PyTorch takes roots, which have other signs than IEEE 754's powers: see docs/pytorch.md.
            points = odd if p not in (0.5, -0.5, 1.5) else [v for v in odd if v != -inf and math.copysign(1, v) * (v == 0) >= 0]
            ask("pow", [of(d, *points)], lambda x: x.pow(p), scale=4, number=str(float(p)))
    for d in FLOATS:
        for shapes in (((2, 3), (3,), (2, 1)), ((4,), (4,), (4,))):
            x, y, z = (some(d, *s) for s in shapes)
            away = z + z.sign() * 0.5 + (z == 0)
            ask("lerp", [x, y, z], torch.lerp)
            for value in (1.0, -0.5, 2.0):
                ask("addcmul", [x, y, z], lambda x, a, b: torch.addcmul(x, a, b, value=value), value=value)
                ask("addcdiv", [x, y, away], lambda x, a, b: torch.addcdiv(x, a, b, value=value), value=value)
        for w in (0.0, 0.25, 0.5, 1.0, 1.5, -1.0):
            ask("lerp", [some(d, 5), some(d, 5)], lambda x, y: torch.lerp(x, y, w), weight=w)
    for d in (F64, F32):
        a = torch.tensor([p for p in odd for _ in odd], dtype=d)
        b = torch.tensor([p for _ in odd for p in odd], dtype=d)
        ask("lerp", [a, b], lambda x, y: torch.lerp(x, y, 0.25), weight=0.25)
        ask("addcmul", [torch.ones_like(a), a, b], lambda x, a, b: torch.addcmul(x, a, b, value=2.0), value=2.0)
        ask("addcdiv", [torch.ones_like(a), a, b], lambda x, a, b: torch.addcdiv(x, a, b, value=2.0), value=2.0)
    for d in WHOLE:
        ask("addcmul", [some(d, 5), some(d, 5), some(d, 5)], lambda x, a, b: torch.addcmul(x, a, b, value=2), value=2.0, exact=True)


def layers():
    for d in FLOATS:
        s = 32.0 if d in (F64, F32) else 2.0
        for shape in ((2, 3, 4, 8), (3, 5, 8), (4, 8)):
            q, k, v = some(d, *shape), some(d, *shape), some(d, *shape[:-1], 6)
            ask("attention", [q, k, v], lambda q, k, v: F.scaled_dot_product_attention(q, k, v), scale=s)
            ask("attention", [q, k, v], lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), scale=s, causal=True)
            ask("attention", [q, k, v], lambda q, k, v: F.scaled_dot_product_attention(q, k, v, scale=0.3), scale=s, factor=0.3)
        q, k, v = some(d, 2, 3, 8), some(d, 2, 5, 8), some(d, 2, 5, 4)
        end = torch.ones(3, 5, dtype=BOOL).tril(2)
        ask("attention", [q, k, v], lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=end), scale=s, causal=True, note="the end of a sequence")
        seen = of(BOOL, [True, False, True, True, False], [False, True, True, False, True], [True, False, False, False, False])
        ask("attention", [q, k, v, seen], lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), scale=s, masked=True)
        none = of(BOOL, [True, False, True, True, False], [False, False, False, False, False], [True, True, True, True, True])
        ask("attention", [q, k, v, none], lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), scale=s, masked=True, note="a query that sees nothing")
        q, k, v = some(d, 2, 4, 3, 8), some(d, 2, 2, 5, 8), some(d, 2, 2, 5, 8)
        ask("attention", [q, k, v], lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True), scale=s, note="grouped")
        if d in (F64, F32):
            ask("attention", [q * 100, k * 10, v], lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True), scale=4 * s, note="scores that overflow")
        for eps in (1e-5, 0.1):
            ask("rms_norm", [some(d, 2, 3, 8), some(d, 8)], lambda x, w: F.rms_norm(x, [8], w, eps), scale=s, eps=eps)
            ask("rms_norm", [some(d, 3, 5)], lambda x: F.rms_norm(x, [5], None, eps), scale=s, eps=eps)
            ask("rms_norm", [torch.zeros(2, 4, dtype=d), some(d, 4)], lambda x, w: F.rms_norm(x, [4], w, eps), scale=s, eps=eps, note="zeros")
            if d in (F64, F32):
                ask("rms_norm", [of(d, [1, inf, 2], [nan, 1, 1]), some(d, 3)], lambda x, w: F.rms_norm(x, [3], w, eps), scale=s, eps=eps)
        angle = torch.arange(15).reshape(5, 3).to(F64) / 7

        def rotate(x):
            pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], 3, 2))
            return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2).to(x.dtype)
        ask("rotate_pairs", [some(d, 2, 5, 6)], rotate, scale=4, divide=7)
    for d in (F64, F32):
        s = 16.0
        x, t = some(d, 4, 3), some(d, 4, 3, low=0, high=1)
        soft = t / t.sum(1, keepdim=True)
        hard, w = of(I64, 0, 2, 1, 2), of(d, 0.5, 2, 1)
        for reduction in ("mean", "sum", "none"):
            for smooth in (0.0, 0.2):
                ask("cross_entropy", [x, soft], lambda x, t: F.cross_entropy(x, t, reduction=reduction, label_smoothing=smooth),
                    scale=s, reduction=reduction, smoothing=smooth)
                ask("cross_entropy", [x, hard, w.detach()], lambda x, t, w: F.cross_entropy(x, t, w.detach(), reduction=reduction, label_smoothing=smooth),
                    scale=s, reduction=reduction, smoothing=smooth, weighted=True)
                ask("cross_entropy", [x, soft, w], lambda x, t, w: F.cross_entropy(x, t, w.detach(), reduction=reduction, label_smoothing=smooth),
                    scale=s, reduction=reduction, smoothing=smooth, weighted=True)
                ask("cross_entropy", [x, of(I64, 0, -100, 1, -100), w], lambda x, t, w: F.cross_entropy(x, t, w.detach(), reduction=reduction, label_smoothing=smooth),
                    scale=s, reduction=reduction, smoothing=smooth, weighted=True)
        ask("cross_entropy", [some(d, 2, 3, 5), of(I64, [0, 1, 2, 2, 1], [1, 1, 0, 2, 0]), w], lambda x, t, w: F.cross_entropy(x, t, w.detach()), scale=s, weighted=True)
        ask("cross_entropy", [x, of(I64, 0, 3, 1, 1)], F.cross_entropy, note="there is no class 3")
    for d in FLOATS:
        s = 16.0 if d in (F64, F32) else 8.0
        hard = of(I64, 0, 4, 2, 4)
        for reduction in ("mean", "sum", "none"):
            for ids, note in ((hard, "whole"), (of(I64, -100, 4, -100, 0), "ignored"), (of(I64, -100, -100, -100, -100), "all ignored")):
                ask("cross_entropy", [some(d, 4, 5), ids], lambda x, t: F.cross_entropy(x, t, reduction=reduction), scale=s, reduction=reduction, note=note)
            ask("cross_entropy", [some(d, 2, 3, 2, 2), of(I64, [[0, 1], [2, -100]], [[1, 1], [0, 2]])], lambda x, t: F.cross_entropy(x, t, reduction=reduction),
                scale=s, reduction=reduction, note="of pictures")
        ask("cross_entropy", [some(d, 7), torch.tensor(3)], F.cross_entropy, scale=s, note="one row")
        ask("cross_entropy", [some(d, 3, 300), of(I64, 7, 299, 0)], F.cross_entropy, scale=s, note="many classes")
        if d in (F64, F32):
            ask("cross_entropy", [of(d, [1000, -1000, 999], [-inf, 1, 2], [-inf, 1, 2]), of(I64, 1, 1, 0)], lambda x, t: F.cross_entropy(x, t, reduction="none"),
                scale=s, reduction="none", note="far apart")
            ask("cross_entropy", [of(d, [1, nan, 2], [inf, 1, 2], [3, 1, 2]), of(I64, 1, 1, 0)], lambda x, t: F.cross_entropy(x, t, reduction="none"),
                scale=s, reduction="none", note="none that is finite")


def norms():
    for d in FLOATS:
        wide = d in (F64, F32)
        for axes in ([0], [-1], [0, 2], [0, 1, 2]):
            ask("norm", [some(d, 2, 3, 4)], lambda x: torch.linalg.vector_norm(x, dim=axes), scale=8 if wide else 1, axes=axes)
        ask("norm", [of(d, [0, 0], [3, 4], [0, -2])], lambda x: torch.linalg.vector_norm(x, dim=[1]), scale=4, axes=[1], note="zeros")
        ask("norm", [of(d, [inf, 1], [nan, 2], [-inf, 0])], lambda x: torch.linalg.vector_norm(x, dim=[1]), axes=[1])
        ask("norm", [torch.zeros(2, 0, dtype=d)], lambda x: torch.linalg.vector_norm(x, dim=[1]), axes=[1])
        for eps in (1e-5, 0.1):
            s = 64 if wide else 4
            ask("layer_norm", [some(d, 2, 3, 8), some(d, 8), some(d, 8)], lambda x, w, b: F.layer_norm(x, [8], w, b, eps), scale=s, eps=eps, sizes=[8])
            ask("layer_norm", [some(d, 2, 3, 4), some(d, 3, 4), some(d, 3, 4)], lambda x, w, b: F.layer_norm(x, [3, 4], w, b, eps), scale=s, eps=eps, sizes=[3, 4])
            ask("layer_norm", [some(d, 3, 5)], lambda x: F.layer_norm(x, [5], None, None, eps), scale=s, eps=eps, sizes=[5])
            ask("layer_norm", [torch.ones(2, 4, dtype=d) * 3, some(d, 4), some(d, 4)], lambda x, w, b: F.layer_norm(x, [4], w, b, eps),
                scale=s, eps=eps, sizes=[4], note="no variance")
            if wide:
                ask("layer_norm", [of(d, [1, inf, 2], [nan, 1, 1], [1e3, 1e3 + 1, 1e3 - 1]), some(d, 3), some(d, 3)],
                    lambda x, w, b: F.layer_norm(x, [3], w, b, eps), scale=s * 64, eps=eps, sizes=[3])
    large = of(F64, [1e150, -2e150, 3], [1e-150, 2e-150, 0])
    ask("norm", [large], lambda x: torch.linalg.vector_norm(x, dim=[1]), axes=[1], note="squares that fit")


def made_of_others():
    for d in FLOATS + (I64, U8, BOOL):
        for axis, count in ((0, 2), (1, 3), (-1, 1), (0, 0)):
            ask("repeat_interleave", [some(d, 2, 3)], lambda x: x.repeat_interleave(count, axis), exact=d not in (BF16, F16), axis=axis, k=count)
        for n in (1, 4):
            ask("diag", [some(d, n)], lambda x: x.diag(), exact=True)
        if d != BOOL:
            ask("trace", [some(d, 3, 4)], lambda x: x.trace(), scale=4 if d in FLOATS else 1)
    for d in (F64, F32, BF16):
        s = 16 if d != BF16 else 2
        for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, inf):
            ask("pnorm", [some(d, 2, 3, 4)], lambda x: torch.linalg.vector_norm(x, p, dim=[0, 2]), grads=p != 0, scale=s, axes=[0, 2], number=str(p))
            ask("pnorm", [of(d, [0, 0, 0], [3, 0, -4])], lambda x: torch.linalg.vector_norm(x, p, dim=[1]), grads=p not in (0, 0.5), scale=s, axes=[1], number=str(p), note="zeros")
        for reduction in ("mean", "sum", "none"):
            ask("huber", [some(d, 3, 4), some(d, 3, 4)], lambda y, t: F.huber_loss(y, t, reduction=reduction, delta=0.75), scale=s, reduction=reduction, value=0.75)
            ask("kl_div", [some(d, 3, 4, high=0), of(d, [0.25, 0.25, 0.5, 0], [0, 1, 0, 0], [0.125, 0.125, 0.25, 0.5])], lambda q, p: F.kl_div(q, p.detach(), reduction=reduction), scale=s, reduction=reduction)
        ask("huber", [of(d, 0, 1, -1, 3, inf, nan), of(d, 0, 0, 0, 0, 0, 0)], lambda y, t: F.huber_loss(y, t, reduction="none"), scale=s, reduction="none", value=1, note="at the bound and beyond")


def scattering():
    at = of(I64, [2, 0, 1], [1, 1, 3])
    for d in FLOATS + WHOLE + (BOOL,):
        for rule in ("sum", "mean", "prod", "amax", "amin"):
            for self in (True, False):
                def scatter(axis):
                    return lambda x, i, v: x.scatter_reduce(axis, i, v, rule, include_self=self)
                if rule == "mean" and not d.is_floating_point and d != BOOL:
                    continue  # of integers it is refused: see docs/pytorch.md
                given = {"rule": rule, "without": not self, "exact": rule[0] == "a", "scale": 4}
                # An element that is left out and equals the largest value takes a part of the gradient along in PyTorch.
                ask("scatter_reduce", [some(d, 2, 4), at, some(d, 2, 3)], scatter(1), axis=1, grads=self or rule[0] != "a", **given)
                if d != BOOL:
                    x = apart(d, 2, 4) + (0.125 if d.is_floating_point else 0)
                    ask("scatter_reduce", [x, of(I64, [1, 1, 0, 1], [1, 0, 0, 1]), apart(d, 2, 4) * 2], scatter(0), axis=0, note="with a 0", **given)
                    ask("scatter_reduce", [of(d, 1, 0, 3), of(I64, 0, 0, 2, 2), of(d, 0, 0, 2, 0)], scatter(0), axis=0, note="zeros and ties",
                        grads=self, **given)


def windows():
    for d in (F64, F32, BF16):
        s = 64 if d != BF16 else 4
        for stride, padding, dilation, groups in ((1, 0, 1, 1), (2, 1, 1, 1), (1, 2, 2, 2), (3, 1, 2, 4)):
            at = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
            for shape, kernel, convolve in (((2, 4, 7), (3,), F.conv1d), ((2, 4, 6, 5), (3, 2), F.conv2d)):
                x, w = some(d, *shape), some(d, 4, 4 // groups, *kernel)
                ask("convolve", [x, w, some(d, 4)], lambda x, w, b: convolve(x, w, b, **at), scale=s, **at)
                ask("convolve", [x, w], lambda x, w: convolve(x, w, None, **at), scale=s, **at)
        ask("convolve", [some(d, 2, 3, 4), some(d, 2, 3, 5)], F.conv1d, note="no window fits", stride=1, padding=0, dilation=1, groups=1)
        ask("convolve", [some(d, 2, 3, 4), some(d, 2, 2, 2)], F.conv1d, note="other channels", stride=1, padding=0, dilation=1, groups=1)
        for stride, padding, dilation in ((0, 0, 1), (2, 0, 1), (1, 1, 2), (3, 1, 1)):
            at = {"stride": stride, "padding": padding, "dilation": dilation}
            ask("max_pool", [some(d, 2, 3, 9).round()], lambda x: F.max_pool1d(x, 3, stride or None, padding, dilation), exact=True, sizes=[3], note="ties", **at)
            ask("max_pool", [apart(d, 2, 3, 7, 6)], lambda x: F.max_pool2d(x, (3, 2), stride or None, padding, dilation), exact=True, sizes=[3, 2], **at)
        for shape in ((3, 4), (2, 4, 5), (2, 4, 3, 2)):
            x, w, b = some(d, *shape), some(d, 4), some(d, 4)
            for groups in (1, 2, 4):
                if groups < 4 or len(shape) > 2:  # of a single number there is no variance
                    ask("group_norm", [x, w, b], lambda x, w, b: F.group_norm(x, groups, w, b, 1e-3), scale=s, groups=groups, eps=1e-3)
            mean, var = some(d, 4).detach(), some(d, 4, low=0.5).detach()
            for training in (True, False):
                def norm(x, w, b, mean, var):
                    mean, var = mean.detach().clone(), var.detach().clone()
                    return F.batch_norm(x, mean, var, w, b, training, 0.25, 1e-3), mean, var
                ask("batch_norm", [x, w, b, mean, var], norm, scale=s, grads=d != BF16, training=training, momentum=0.25, eps=1e-3)
        ask("batch_norm", [some(d, 1, 4), some(d, 4), some(d, 4), some(d, 4), some(d, 4, low=0.5)],
            lambda x, w, b, mean, var: F.batch_norm(x, mean.detach(), var.detach(), w, b, True), note="a single value", training=True, momentum=0.1, eps=1e-5)


torch.set_num_threads(1)
for d in FLOATS + WHOLE + (BOOL,):
    moving(d)
for d in FLOATS:
    products(d)
for d in (I64, I32):
    products(d)
counting()
ordering()
elementwise()
layers()
norms()
made_of_others()
scattering()
windows()
write("operations")
