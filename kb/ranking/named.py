"""Sections by their names where front matter gives any: how near a question is to the aliases, questions and titles of each.

A question is closer to a question than to the text that answers it, and names stand in several languages beside a text in one.
Each language is one opinion of a section: the mean of its nearest names there, compared with what is usual for that language.
Opinions are pooled as independent ones are, by the sum of n of them over the root of n (Stouffer et al., "The American soldier:
adjustment during army life", 1949), so that a section near in two languages comes before one that is by chance in one.
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
from kb.ranking import fusion, weights
from kb.ranking.groups import At
from kb.ranking.ranker import HitMask


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of a state that have vectors, those of one language and one id together.

    `rows`: of the matrix, one a name. `starts`: where the names of each pair of a language and an id begin; `languages` says
    which pairs are of a language, `ids` the place of each pair's id in `variants`. `variants`: the hits that share each id,
    numbered through all segments, those of one id together; `variant_starts`: where each id's begin. `firsts`: the first hit
    of each segment.
    """

    rows: NDArray[np.int64]
    starts: NDArray[np.intp]
    languages: Mapping[str, slice]
    ids: NDArray[np.int64]
    variants: NDArray[np.int64]
    variant_starts: NDArray[np.intp]
    firsts: NDArray[np.int64]


def standings(
    catalog: Catalog,
    snapshot: Snapshot,
    view: View,
    vector: Matrix,
    masks: Sequence[HitMask | None] | None,
    count: int,
) -> dict[At, float]:
    """Return how far the `count` farthest ids stand out by their names, in deviations above the mean, for each of their hits.

    `vector`: of the question, shape (1, n). Only hits that `masks` allow are returned, but the names of all variants of an id
    speak for it: a section that is asked for in Russian alone may be named in the English file.
    """
    if not len(view.name_rows):
        return {}
    held = _held(catalog, snapshot, view)
    if not len(held.rows):
        return {}
    near = nearest_mean(_cosines(view, held.rows, vector), held.starts)
    usual = fusion.standing({language: near[part] for language, part in held.languages.items()})
    total, opinions = np.zeros(len(held.variant_starts)), np.zeros(len(held.variant_starts), dtype=np.int64)
    for language, part in held.languages.items():
        mean, deviation = usual[language]
        if deviation:
            total[held.ids[part]] += (near[part] - mean) / deviation
            opinions[held.ids[part]] += 1
    variants, ends = held.variants, np.append(held.variant_starts[1:], len(held.variants))
    allowed = np.ones(len(variants), dtype=bool)
    if masks is not None and any(mask is not None for mask in masks):
        sizes = [len(segment.hit_section) for segment in snapshot.segments]
        whole = np.concatenate([np.ones(n, dtype=bool) if mask is None else mask for mask, n in zip(masks, sizes, strict=True)])
        allowed = whole[variants]
    chosen = np.flatnonzero((opinions > 0) & np.logical_or.reduceat(allowed, held.variant_starts))
    stands = total[chosen] / np.sqrt(opinions[chosen])
    out: dict[At, float] = {}
    for at in np.lexsort((chosen, -stands))[:count].tolist():
        part = slice(int(held.variant_starts[chosen[at]]), int(ends[chosen[at]]))
        for number in variants[part][allowed[part]].tolist():
            segment = int(np.searchsorted(held.firsts, number, side="right")) - 1
            out[segment, number - int(held.firsts[segment])] = float(stands[at])
    return out


def nearest_mean(cosines: NDArray[np.float32], starts: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the mean of the nearest names of each group, the nearest first in weight (see `weights.NEAREST_NAMES`).

    `cosines`: of all names, those of one group together; `starts`: where each group begins, none of them empty.
    """
    left = cosines.astype(np.float64)
    sizes = np.diff(starts, append=len(left))
    total, weight = np.zeros(len(starts)), np.zeros(len(starts))
    for share in weights.NEAREST_NAMES:
        best = np.maximum.reduceat(left, starts)
        some = np.isfinite(best)
        total[some] += share * best[some]
        weight[some] += share
        at = np.flatnonzero((left == np.repeat(best, sizes)) & np.isfinite(left))
        _, first = np.unique(np.searchsorted(starts, at, side="right"), return_index=True)
        left[at[first]] = -np.inf  # one of equals: the other is next
    found: NDArray[np.float64] = total / weight
    return found


def _held(catalog: Catalog, snapshot: Snapshot, view: View) -> _Names:
    known: tuple[NDArray[np.int64], _Names] | None = snapshot.memo.get("names with vectors")
    if known is None or known[0] is not view.name_rows:
        known = snapshot.memo["names with vectors"] = (view.name_rows, _grouped(catalog, snapshot, view))
    return known[1]


def _grouped(catalog: Catalog, snapshot: Snapshot, view: View) -> _Names:
    sections = np.concatenate([segment.hit_section for segment in snapshot.segments] or [np.zeros(0, np.int64)])
    groups = np.concatenate([segment.group[segment.hit_group] for segment in snapshot.segments] or [np.zeros(0, np.int64)])
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
    rows, owners, languages = view.name_rows[kept], groups[order[place[kept]]], language_of[kept]
    by = np.lexsort((rows, owners, languages))
    rows, owners, languages = rows[by], owners[by], languages[by]
    # A name that two variants have is one name.
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (owners[1:] != owners[:-1]) | (languages[1:] != languages[:-1])
    single = new.copy()
    single[1:] |= rows[1:] != rows[:-1]
    rows, owners, languages, new = rows[single], owners[single], languages[single], new[single]
    starts = np.flatnonzero(new)
    bounds = np.searchsorted(languages[starts], np.arange(len(names) + 1))
    parts = {name: slice(int(bounds[n]), int(bounds[n + 1])) for n, name in enumerate(names) if bounds[n] < bounds[n + 1]}
    held = np.unique(owners)
    variants = live_hits[np.isin(groups[live_hits], held)]
    variants = variants[np.argsort(groups[variants], kind="stable")]
    return _Names(
        rows, starts, parts, np.searchsorted(held, owners[starts]), variants, np.searchsorted(groups[variants], held), firsts
    )


def _cosines(view: View, rows: NDArray[np.int64], vector: Matrix) -> NDArray[np.float32]:
    out = np.empty(len(rows), dtype=np.float32)
    for part in vectors.batches(len(rows), vectors.BLOCK_ROWS):
        out[part] = view.store.matrix[rows[part]] @ vector[0]
    return out
