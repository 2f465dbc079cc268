"""Several ranked lists into one. A list that lacks an item adds nothing to it.

`min_max` puts the scores of each list on the scale from 0 to 1 for this one query and adds them up, weighted ("relative score
fusion"; Lee, "Analyses of multiple evidence combination", SIGIR 1997); `outstanding` does so for cosines, which say how clear
a list's best is. `reciprocal_rank` looks at places only (Cormack,
Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods", SIGIR 2009).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

K = TypeVar("K", bound=Hashable)

RRF_K = 60
"""The constant of Cormack et al. (2009), who found results flat around it."""
PRIOR = 5
"""Values for which the mean over all languages counts in that of one: one or two sections make no mean of their own."""


def scaled(scores: Mapping[K, float], low: float | None = None) -> dict[K, float]:
    """Return (s - low) / (high - low) for each score; `low` is the lowest of the list unless one is given.

    Where all are equal there is nothing between them: each is 1.
    """
    if not scores:
        return {}
    high = max(scores.values())
    bottom = min(scores.values()) if low is None else low
    if high <= bottom:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - bottom) / (high - bottom) for key, score in scores.items()}


def outstanding(standing: Mapping[K, float], full: float, count: int | None = None) -> dict[K, float]:
    """Return how much each item stands out, from 0 (as much as the mean of all, or less) to 1.

    1 is the highest, where that is `full` deviations or more; in a list whose highest is nothing special nobody has 1. Of
    `count` values none can be farther than (n - 1) / sqrt(n) deviations from their mean (Samuelson, "How deviant can you be?",
    JASA 1968): where that is less than `full` it stands in its place. Where nothing stands out each is 1.
    """
    highest = max(standing.values(), default=0.0)
    possible = full if count is None else min(full, (count - 1) / math.sqrt(count) if count else 0.0)
    top = max(highest, possible)
    if top <= 0:
        return dict.fromkeys(standing, 1.0)
    return {key: max(value, 0.0) / top for key, value in standing.items()}


def standing(pools: Mapping[str, NDArray[np.float64]]) -> dict[str, tuple[float, float]]:
    """Return for each pool (a language's cosines) the mean and deviation by which its values become comparable with others.

    The deviation is one for all, that of every value from the mean of its own pool; the mean of a small pool leans towards
    that of all, as if it held `PRIOR` such values more. With one pool nothing but the scale changes.
    """
    sizes = {name: len(values) for name, values in pools.items()}
    count = sum(sizes.values())
    if not count:
        return dict.fromkeys(pools, (0.0, 0.0))
    overall = sum(float(values.sum()) for values in pools.values()) / count
    own = {name: float(values.mean()) if len(values) else overall for name, values in pools.items()}
    spread = sum(float(((values - own[name]) ** 2).sum()) for name, values in pools.items()) / count
    return {name: ((sizes[name] * own[name] + PRIOR * overall) / (sizes[name] + PRIOR), math.sqrt(spread)) for name in pools}


def ranks(scores: Mapping[K, float], names: Mapping[K, str]) -> dict[K, int]:
    """Return the place of each item, from 1: score descending, ties by name."""
    ordered = sorted(scores, key=lambda key: (-scores[key], names[key]))
    return {key: place for place, key in enumerate(ordered, 1)}


def reciprocal(places: Mapping[K, int], k: int = RRF_K) -> dict[K, float]:
    """Return 1 / (k + place) for each item."""
    return {key: 1.0 / (k + place) for key, place in places.items()}


def weighted_sum(lists: Sequence[Mapping[K, float]], weights: Sequence[float]) -> dict[K, float]:
    """Return for every item of any list the sum of weight times score over the lists that hold it."""
    out: dict[K, float] = {}
    for scores, weight in zip(lists, weights, strict=True):
        for key, score in scores.items():
            out[key] = out.get(key, 0.0) + weight * score
    return out


def reciprocal_rank(
    lists: Sequence[Sequence[K]], weights: Sequence[float] | None = None, k: int = RRF_K
) -> list[tuple[K, float]]:
    """Fuse lists of items, best first, by reciprocal ranks; ties by the items themselves, as text."""
    parts = [reciprocal({key: place for place, key in enumerate(items, 1)}, k) for items in lists]
    return _ordered(weighted_sum(parts, weights or [1.0] * len(lists)))


def min_max(lists: Sequence[Mapping[K, float]], weights: Sequence[float] | None = None) -> list[tuple[K, float]]:
    """Fuse lists of scores, each scaled from its lowest to its highest; ties by the items themselves, as text."""
    return _ordered(weighted_sum([scaled(scores) for scores in lists], weights or [1.0] * len(lists)))


def _ordered(scores: Mapping[K, float]) -> list[tuple[K, float]]:
    return sorted(scores.items(), key=lambda item: (-item[1], str(item[0])))
