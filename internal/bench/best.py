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


