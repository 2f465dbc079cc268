"""How the benchmarks take time: what clock, how often each query is asked, and in what order."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

ROUNDS = 3
"""Each query is asked so often, and the median of its times counts: what an engine keeps between queries is warm, as in use."""
clock = time.process_time
"""CPU time of all threads: some engines answer in threads of their own."""


def spread(times: Sequence[float]) -> dict[str, float]:
    """Return p50, p99 and mean in ms, queries per second, and the quartiles."""
    found = np.array(times) * 1e3
    low, middle, high, late = np.percentile(found, [25, 50, 75, 99]).tolist()
    mean = float(found.mean())
    return {"p50": middle, "p99": late, "mean": mean, "qps": 1e3 / mean, "low": low, "high": high}


def in_turn(asks: dict[str, Callable[[int], Any]], counts: dict[str, int], rounds: int = ROUNDS) -> dict[str, dict[str, float]]:
    """Ask every engine every query; `asks` take the number of a query.

    Engines take turns with all of their queries, so many rounds: as in use, an engine has the processor's caches to itself.
    `first` is the median of the times that queries took when they were asked for the first time.
    """
    times: dict[str, list[list[float]]] = {name: [[] for _ in range(count)] for name, count in counts.items()}
    names = list(asks)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            for query in range(counts[name]):
                started = clock()
                asks[name](query)
                times[name][query].append(clock() - started)
    return {
        name: {
            **spread([float(np.median(one)) for one in found]),
            "first": float(np.median([one[0] for one in found])) * 1e3,
        }
        for name, found in times.items()
    }
