# What stands before the programs of Python's side.
import time


def best_of(f, calls, rounds=7):
    """Seconds for one call, the best of some rounds, after one to warm up."""
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        for _ in range(calls):
            f()
        times.append((time.perf_counter() - start) / calls)
    return min(times[1:])


def pattern(scale, *shape):
    """Numbers that both sides can make and that look random: of mean 0 and standard deviation scale."""
    import torch

    n = 1
    for size in shape:
        n *= size
    i = torch.arange(n)
    return (((31 * i * i + 17 * i) % 1009).float() - 504).mul(scale / 291).reshape(shape)


