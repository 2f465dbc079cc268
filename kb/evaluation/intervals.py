"""How sure a mean over questions is: percentile bootstrap, seeded.

Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13. Questions are drawn with replacement; where two
configurations are compared, the draws are of the differences a question (paired).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
SEED = 20261130
LEVEL = 0.95
_DRAWN_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95 % interval; all None where there is no question to measure."""

    value: float | None
    low: float | None
    high: float | None

    def as_json(self) -> dict[str, float | None]:
        """Return the object for JSON."""
        return {name: None if v is None else round(v, 6) for name, v in zip(("value", "low", "high"), self, strict=True)}

    def __iter__(self) -> Iterator[float | None]:
        return iter((self.value, self.low, self.high))


def mean(values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED) -> Estimate:
    """Return the mean of values with the interval of its bootstrap; the same for the same values and seed."""
    if not len(values):
        return Estimate(None, None, None)
    data = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(seed)
    rows = max(1, _DRAWN_AT_ONCE // len(data))
    means = np.concatenate(
        [
            data[generator.integers(0, len(data), size=(min(rows, resamples - start), len(data)))].mean(axis=1)
            for start in range(0, resamples, rows)
        ]
    )
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(data.mean()), float(low), float(high))


def difference(first: Sequence[float], second: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED) -> Estimate:
    """Return the mean of second minus first, question by question, with its interval."""
    if len(first) != len(second):
        raise ValueError("a paired difference needs the same questions twice")
    return mean([b - a for a, b in zip(first, second, strict=True)], resamples=resamples, seed=seed)
