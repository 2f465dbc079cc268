"""What is usual among the cosines of a base: its hits by language, and a sample of them to compare a question with.

How far a hit stands out is told from the hits of its language. Some thousand of them say that as well as all do, and an
engine that brings only the nearest hits need not bring the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kb.index.catalog import Catalog
from kb.index.embed import View
from kb.index.snapshot import Snapshot
from kb.ranking.dense import numbers_of
from kb.ranking.ranker import HitMask

SAMPLE = 4096
"""Hits of a language that stand for all: the mean of so many lies within .016 deviations of that of all, two times in three."""


def by_language(catalog: Catalog, snapshot: Snapshot) -> Sequence[Mapping[str, HitMask]]:
    """Return for each segment language -> which of its hits are in it; worked out once for a state of the index."""
    found: list[dict[str, HitMask]] | None = snapshot.memo.get("hits by language")
    if found is None:
        found = snapshot.memo["hits by language"] = _by_language(catalog, snapshot)
    return found


def sample(catalog: Catalog, snapshot: Snapshot, view: View) -> Sequence[Mapping[str, NDArray[np.int64]]]:
    """Return for each segment language -> its hits that belong to the sample, ascending.

    Those whose lead (or only passage) has the lowest keys: keys are as good as random, and depend on the text alone, so that an
    index kept current and one made anew draw the same.
    """
    found: list[dict[str, NDArray[np.int64]]] | None = snapshot.memo.get("sample of hits")
    if found is None:
        found = snapshot.memo["sample of hits"] = _sample(by_language(catalog, snapshot), snapshot, view)
    return found


def _by_language(catalog: Catalog, snapshot: Snapshot) -> list[dict[str, HitMask]]:
    if len(catalog.languages) < 2:
        only = next(iter(catalog.languages), "")
        return [{only: np.ones(len(segment.hit_section), dtype=bool)} for segment in snapshot.segments]
    held: dict[str, list[int]] = {}
    for document, language in catalog.db.execute("SELECT document, language FROM documents"):
        held.setdefault(language, []).append(document)
    return [
        {language: np.isin(segment.hit_document, documents) for language, documents in held.items()}
        for segment in snapshot.segments
    ]


def _sample(languages: Sequence[Mapping[str, HitMask]], snapshot: Snapshot, view: View) -> list[dict[str, NDArray[np.int64]]]:
    own: dict[str, list[tuple[int, NDArray[np.int64], NDArray[np.uint64]]]] = {}
    for position, (segment, masks) in enumerate(zip(snapshot.segments, languages, strict=True)):
        filled, _, last, _ = segment.layout
        live = np.ones(len(segment.hit_section), dtype=bool)
        live[segment.dead.hits] = False
        keys = view.keys_of(numbers_of(segment, last.astype(np.int64)))
        for language, mask in masks.items():
            chosen = (mask & live)[filled]
            own.setdefault(language, []).append((position, filled[chosen], keys[chosen]))
    out: list[dict[str, NDArray[np.int64]]] = [{} for _ in snapshot.segments]
    for language, parts in own.items():
        every = np.concatenate([keys for _, _, keys in parts])
        most = np.partition(every, SAMPLE - 1)[SAMPLE - 1] if len(every) > SAMPLE else None
        for position, hits, keys in parts:
            out[position][language] = hits if most is None else hits[keys <= most]
    return out
