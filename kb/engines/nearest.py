"""The cosines that a question needs, with the nearest hits found by an engine.

The engine returns for each language the points whose vectors are nearest. Their hits, and those that are needed in any case, are
then compared here with the vectors of this machine. A hit of which no point was returned is no nearer than the last that was;
once enough are nearer than that, they are the right ones. Otherwise more is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kb.engines.candidates import GROWTH, MOST, allowed_hits, hits_of
from kb.engines.store import DENSE, Ask, Found, Store
from kb.index.catalog import Catalog
from kb.index.embed import View
from kb.index.segment import ranges
from kb.index.snapshot import Snapshot
from kb.ranking import usual
from kb.ranking.dense import HitCosines, cosines, cosines_of, numbers_of
from kb.ranking.ranker import HitMask

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kb.embedding.protocol import Matrix

EXACT_PASSAGES = 50_000
"""Up to so many passages a question is compared with every vector; beyond, the server's graph finds the nearest."""
_SLACK = 1e-5
"""How far a server's cosine may lie from ours; 32-bit sums of a thousand numbers differ by a hundredth of it."""


class NearestHits:
    """Compares as `kb.ranking.semantic.compare_all` does, with the nearest hits from a collection of a store.

    `gone` is called, and all is compared here, where the collection is not there any more, `lacking` where it lacks points.
    """

    def __init__(
        self,
        store: Store,
        collection: str,
        match: Mapping[str, Sequence[str | int]],
        gone: Callable[[], None],
        lacking: Callable[[], None],
        first: int,
    ) -> None:
        self._store = store
        self._collection = collection
        self._match = match
        self._gone = gone
        self._lacking = lacking
        self._first = first

    def __call__(
        self,
        catalog: Catalog,
        snapshot: Snapshot,
        view: View,
        vector: Matrix,
        masks: Sequence[HitMask | None] | None,
        also: Sequence[tuple[int, int]],
        count: int,
    ) -> list[HitCosines]:
        """Return the cosines of hits. Arguments and outcome as for `kb.ranking.semantic.compare_all`."""
        wanted = self._needed(catalog, snapshot, view, also)

        def among(hits: Sequence[NDArray[np.int64]]) -> list[HitCosines]:
            for held, more in zip(wanted, hits, strict=False):
                held[more] = True
            return cosines_of(snapshot, view, vector, [np.flatnonzero(held) for held in wanted])

        allowed = allowed_hits(masks)
        if allowed is not None and sum(map(len, allowed)) <= self._first:
            return among(allowed)  # fewer than would be asked for: each is compared
        languages = usual.by_language(catalog, snapshot)
        exact = len(view.rows) <= EXACT_PASSAGES
        open_ = {language: self._ask(language, vector, exact, len(catalog.languages)) for language in self._languages(languages)}
        found: list[HitCosines] | None = None
        while open_:
            answers = self._store.ask(self._collection, list(open_.values()))
            if answers is None:
                self._gone()
                return cosines(snapshot, view, vector)
            found = among(hits_of(snapshot, answers, ()))
            for (language, asked), rows in zip([*open_.items()], answers, strict=True):
                if len(rows) < asked.limit:  # all there are
                    if _left_out(snapshot, view, found, languages, language, masks):
                        self._lacking()
                        return cosines(snapshot, view, vector)
                    del open_[language]
                elif _enough(found, languages, language, masks, count, rows):
                    del open_[language]
                elif asked.limit * GROWTH > MOST:
                    return cosines(snapshot, view, vector)
                else:
                    open_[language] = replace(asked, limit=asked.limit * GROWTH)
        return found or among(())

    def _languages(self, languages: Sequence[Mapping[str, HitMask]]) -> list[str]:
        """Return the languages that may answer."""
        held = dict.fromkeys(language for masks in languages for language in masks)
        chosen = self._match.get("language")
        return [language for language in held if chosen is None or language in chosen or not language]

    def _ask(self, language: str, vector: Matrix, exact: bool, languages: int) -> Ask:
        match = dict(self._match)
        if languages > 1:
            match["language"] = [language]
        return Ask(DENSE, vector[0], self._first, match, exact=exact)

    def _needed(
        self, catalog: Catalog, snapshot: Snapshot, view: View, also: Iterable[tuple[int, int]]
    ) -> list[NDArray[np.bool_]]:
        needed = [np.zeros(len(segment.hit_section), dtype=bool) for segment in snapshot.segments]
        for held, drawn in zip(needed, usual.sample(catalog, snapshot, view), strict=True):
            for hits in drawn.values():
                held[hits] = True
        for position, hit in also:
            needed[position][hit] = True
        return needed


def _left_out(
    snapshot: Snapshot,
    view: View,
    found: Sequence[HitCosines],
    languages: Sequence[Mapping[str, HitMask]],
    language: str,
    masks: Sequence[HitMask | None] | None,
) -> bool:
    """Return whether a hit of a language that may answer has a vector, and was not compared."""
    for position, segment in enumerate(snapshot.segments):
        held = languages[position].get(language)
        if held is None:
            continue
        open_ = held & ~np.isfinite(found[position].hits)
        mask = masks[position] if masks is not None else None
        if mask is not None:
            open_ &= mask
        open_[segment.dead.hits] = False
        units = ranges(segment.hit_start, np.flatnonzero(open_))
        if (view.rows_of(numbers_of(segment, units)) >= 0).any():
            return True
    return False


def _enough(
    found: Sequence[HitCosines],
    languages: Sequence[Mapping[str, HitMask]],
    language: str,
    masks: Sequence[HitMask | None] | None,
    count: int,
    rows: Sequence[Found],
) -> bool:
    """Return whether `count` hits of a language are nearer than the last point that was returned."""
    nearer = 0
    for position, one in enumerate(found):
        inside = languages[position].get(language)
        if inside is None:
            continue
        mask = masks[position] if masks is not None else None
        held = inside if mask is None else inside & mask
        nearer += int(np.count_nonzero(one.hits[held] > rows[-1].score + _SLACK))
    return nearer >= count
