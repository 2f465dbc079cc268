"""The order in which people count: B.2 before B.10."""

from __future__ import annotations

import re

_RUNS = re.compile(r"(\d+)")


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key under which numbers inside a text count by their value."""
    return tuple(
        (0, int(run), run) if run.isdecimal() and run.isascii() else (1, 0, run.casefold()) for run in _RUNS.split(text) if run
    )
