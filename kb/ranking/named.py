"""Sections by their names where front matter gives any: how near a question is to the nearest alias, question or title of each.

A question is closer to a question than to the text that answers it, and names stand in several languages beside a text in one. So
names are compared language by language, each with what is usual for it, and a section counts by the language where it stands out
most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kb.embedding.protocol import Matrix
from kb.index import vectors
from kb.index.catalog import Catalog
from kb.index.embed import View
from kb.index.snapshot import Snapshot
from kb.ranking import fusion
from kb.ranking.ranker import HitMask

At = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a state that have vectors, those of one language and one hit together.

    `rows`: of the matrix, one a name. `starts`: where the names of each pair of a language and a hit begin; of each pair
    `languages` and `hits` say which they are, hits numbered through all segments. `firsts`: the first hit of each segment.
    """

    rows: NDArray[np.int64]
    starts: NDArray[np.intp]
    languages: Mapping[str, slice]
    hits: NDArray[np.int64]
    firsts: NDArray[np.int64]


def standings(
    catalog: Catalog,
    snapshot: Snapshot,
    view: View,
    vector: Matrix,
    masks: Sequence[HitMask | None] | None,
    count: int,
) -> dict[At, float]:
    """Return how far hits stand out by their names, in deviations above the mean of a language: of each the `count` farthest.

    `vector`: of the question, shape (1, n). Only hits that `masks` allow are returned; what is usual is told from all.
    """
    if not len(view.name_rows):
        return {}
    held = _held(catalog, snapshot, view)
    if not len(held.rows):
        return {}
    best = np.maximum.reduceat(_cosines(view, held.rows, vector), held.starts).astype(np.float64)
    usual = fusion.standing({language: best[part] for language, part in held.languages.items()})
    allowed = None
    if masks is not None and any(mask is not None for mask in masks):
        sizes = [len(segment.hit_section) for segment in snapshot.segments]
        allowed = np.concatenate([np.ones(n, dtype=bool) if mask is None else mask for mask, n in zip(masks, sizes, strict=True)])
    out: dict[int, float] = {}
    for language, part in held.languages.items():
        mean, deviation = usual[language]
        if not deviation:
            continue
        hits, stands = held.hits[part], (best[part] - mean) / deviation
        if allowed is not None:
            hits, stands = hits[allowed[hits]], stands[allowed[hits]]
        for at in np.lexsort((hits, -stands))[:count].tolist():
            number = int(hits[at])
            out[number] = max(out.get(number, -np.inf), float(stands[at]))
    segments = np.searchsorted(held.firsts, list(out), side="right") - 1
    return {(int(s), number - int(held.firsts[s])): value for s, (number, value) in zip(segments, out.items(), strict=True)}


def _held(catalog: Catalog, snapshot: Snapshot, view: View) -> _Names:
    known: tuple[NDArray[np.int64], _Names] | None = snapshot.memo.get("names with vectors")
    if known is None or known[0] is not view.name_rows:
        known = snapshot.memo["names with vectors"] = (view.name_rows, _grouped(catalog, snapshot, view))
    return known[1]


def _grouped(catalog: Catalog, snapshot: Snapshot, view: View) -> _Names:
    sections = np.concatenate([segment.hit_section for segment in snapshot.segments] or [np.zeros(0, np.int64)])
    firsts = np.cumsum([0, *(len(segment.hit_section) for segment in snapshot.segments)])[:-1].astype(np.int64)
    live = np.ones(len(sections), dtype=bool)
    for first, segment in zip(firsts.tolist(), snapshot.segments, strict=True):
        live[first + segment.dead.hits] = False
    live_hits = np.flatnonzero(live)
    order = live_hits[np.argsort(sections[live_hits], kind="stable")]
    found = catalog.db.execute("SELECT rowid, section, language FROM names ORDER BY rowid").fetchall()
    numbers = np.array([row[0] for row in found], dtype=np.int64)
    at = np.searchsorted(numbers, view.texts.names)
    section_of = np.array([row[1] for row in found], dtype=np.int64)[at]
    names = sorted({row[2] for row in found})
    language_of = np.array([names.index(row[2]) for row in found], dtype=np.int64)[at]
    place = np.minimum(np.searchsorted(sections[order], section_of), max(len(order) - 1, 0))
    kept = (view.name_rows >= 0) & (sections[order][place] == section_of if len(order) else False)
    rows, hits, languages = view.name_rows[kept], order[place[kept]], language_of[kept]
    by = np.lexsort((rows, hits, languages))
    rows, hits, languages = rows[by], hits[by], languages[by]
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (hits[1:] != hits[:-1]) | (languages[1:] != languages[:-1])
    starts = np.flatnonzero(new)
    bounds = np.searchsorted(languages[starts], np.arange(len(names) + 1))
    parts = {name: slice(int(bounds[n]), int(bounds[n + 1])) for n, name in enumerate(names) if bounds[n] < bounds[n + 1]}
    return _Names(rows, starts, parts, hits[starts], firsts)


def _cosines(view: View, rows: NDArray[np.int64], vector: Matrix) -> NDArray[np.float32]:
    out = np.empty(len(rows), dtype=np.float32)
    for part in vectors.batches(len(rows), vectors.BLOCK_ROWS):
        out[part] = view.store.matrix[rows[part]] @ vector[0]
    return out
