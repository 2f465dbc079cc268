"""Whether two answers are the same: ids in the same order, except where scores differ by less than can matter."""

from __future__ import annotations

from collections.abc import Sequence

from kb.answers import Result, SearchAnswer

CLOSE = 1e-5


def differences(ours: SearchAnswer, theirs: SearchAnswer) -> list[str]:
    """Return what differs between two answers to one question; the last hits of a page may be any of equals."""
    out = []
    heads = [(one.query, one.mode, one.total, one.warning, one.corrected, len(one.results)) for one in (ours, theirs)]
    if heads[0] != heads[1]:
        out.append(f"{heads[0]} is not {heads[1]}")
    for place, (one, other) in enumerate(zip(ours.results, theirs.results, strict=False), 1):
        if abs(one.score - other.score) >= CLOSE:
            out.append(f"{place}: {one.id} {one.score} is not {other.id} {other.score}")
        elif _key(one) != _key(other) and not _among_equals(one, theirs.results):
            out.append(f"{place}: {one.id} is not {other.id}")
    return out


def _among_equals(one: Result, others: Sequence[Result]) -> bool:
    held = {_key(other): other.score for other in others}
    return abs(held.get(_key(one), others[-1].score) - one.score) < CLOSE


def _key(one: Result) -> tuple[str | None, str | None]:
    return one.collection, one.id
