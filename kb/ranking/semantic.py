"""Semantic mode: the keyword ranking and the nearest passages, fused.

Cosines of one model are not comparable between languages (in a pool of three languages nearly every first hit is in the
question's own), so a hit counts by how far it stands out among the hits of its language, or by its rank there, and by how far its
names do (`kb.ranking.named`). Language variants of one id count once, by their best text and by the names of all. Candidates
don't depend on the page asked for, so pages fit together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kb.analysis.analyzer import Analyzer
from kb.answers import Result, SearchAnswer
from kb.config import SemanticSettings
from kb.embedding import loading
from kb.embedding.protocol import Matrix
from kb.embedding.rerank import RERANKED
from kb.errors import SemanticUnavailable
from kb.index.catalog import Catalog
from kb.index.embed import View
from kb.index.snapshot import Snapshot
from kb.ranking import bm25, fusion, named, search, usual
from kb.ranking import weights as numbers
from kb.ranking.dense import Dense, HitCosines, best_unit, cosines
from kb.ranking.groups import At
from kb.ranking.plan import plan
from kb.ranking.query import Query, parse, without_excluded
from kb.ranking.ranker import HitMask, Scored, Weights, rank
from kb.ranking.search import Filters

if TYPE_CHECKING:
    from kb.analysis.glossary import Glossary

Compare = Callable[..., list[HitCosines]]
"""Compares as `compare_all` does, or a part of the hits only: the nearest of each language, and those that are asked for."""
_NO_HITS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Fused:
    """A fused candidate: its score and what made it."""

    at: At
    score: float
    keyword: float  # what the keyword ranking adds
    near: float  # what the nearest passages add
    again: float  # what reranking adds
    named: float  # what being named by id or title adds
    standing: float  # how far its nearest variant stands out, in deviations; -inf where none is among the nearest
    called: float  # the same of its names


def question(query: Query) -> str:
    """Return what is embedded for a query: its text without quotation marks and what it excludes; empty where no word is left."""
    if not query.words:
        return ""
    return without_excluded(query).translate(str.maketrans("", "", '"„“”«»')).strip()


def compare_all(
    catalog: Catalog,
    snapshot: Snapshot,
    view: View,
    vector: Matrix,
    masks: Sequence[HitMask | None] | None,
    also: Sequence[At],
    count: int,
) -> list[HitCosines]:
    """Return the cosines of hits with a question's vector, shape (1, n).

    Asked for are at least the `count` nearest of each language among those that `masks` allow, the sample that says what is
    usual (`kb.ranking.usual`), and the hits of `also`.
    """
    return cosines(snapshot, view, vector)


def search_semantic(
    catalog: Catalog,
    snapshot: Snapshot,
    text: str,
    *,
    dense: Dense,
    settings: SemanticSettings,
    analyzer: Callable[[], Analyzer],
    limit: int,
    offset: int,
    filters: Filters,
    weights: Weights,
    fuzzy: bool = True,
    glossary: Glossary | None = None,
    typing: bool = False,
    snippets: bool = True,
    explain: bool = False,
    rank_by: search.Rank = rank,
    compare: Compare = compare_all,
) -> SearchAnswer:
    """Answer a query in semantic mode. Call it inside `catalog.reading()`. SemanticUnavailable where it can't be.

    `rank_by` and `compare` stand in for the ranking and the comparing of this machine where candidates come from elsewhere.
    """
    query = parse(text, typing=typing)
    made = plan(query, snapshot, analyzer, fuzzy=fuzzy, glossary=glossary)
    asked = question(query)
    if not asked:
        return SearchAnswer(query.text, "semantic", (), 0, corrected=made.corrected, also=made.also)
    asked = question(parse(made.corrected)) if made.corrected else asked
    by_id = search.named_sections(catalog, query)
    made, ranking, warning = search.ranked(
        catalog, snapshot, query, made, numbers.KEYWORD_CANDIDATES, filters, by_id, weights, rank_by, analyzer=analyzer
    )
    masks = search.masks(catalog, snapshot, made, filters)
    view, vector = dense.view(catalog), dense.queries([asked])
    keyword = {(hit.segment, hit.hit): hit for hit in ranking.hits}
    called = named.standings(catalog, snapshot, view, vector, masks, numbers.DENSE_CANDIDATES)
    found = compare(catalog, snapshot, view, vector, masks, [*keyword, *called], numbers.DENSE_CANDIDATES)
    near = _near(catalog, snapshot, view, found, masks, numbers.DENSE_CANDIDATES)
    ids = _ids(catalog, snapshot, {*keyword, *called, *(at for one in near for at in one.cosines)})
    boosts = search.titled_sections(catalog, snapshot, made, analyzer) | dict.fromkeys(by_id, numbers.ID_BOOST)
    fused = _fuse(snapshot, keyword, near, called, ids, boosts, made.support, settings)
    reranker = dense.reranker(settings.rerank)
    if reranker is not None and fused:
        try:
            fused = _again(
                catalog, snapshot, fused, keyword, found, ids,
                lambda passages: loading.within(loading.SECONDS, lambda: reranker.scores(asked, passages)),
            )  # fmt: skip
        except SemanticUnavailable as error:
            lost = f"not reranked: {error}"
            warning = lost if warning is None else f"{warning}; {lost}"
    spellings = search.weighted_spellings(snapshot, ranking) if snippets else None

    def nearest(at: At) -> int:
        return best_unit(snapshot.segments[at[0]], found[at[0]], at[1])

    results = []
    for one in fused[offset : offset + limit]:
        hit = keyword.get(one.at)
        scored = _scored(snapshot, one, hit, found)
        shown = search.result_of(catalog, snapshot, made, ranking, scored, weights, spellings, by_id, explain, nearest)
        held = hit is not None and made.support >= numbers.WEAK_SUPPORT
        weak = not held and one.standing < numbers.CLEAR_STANDING and one.called < numbers.CLEAR_NAME
        results.append(_finish(replace(shown, low_confidence=weak), one, hit, found, made.support, settings))
    return SearchAnswer(query.text, "semantic", tuple(results), len(fused), warning, made.corrected, made.also)


@dataclass(frozen=True, slots=True)
class _Near:
    """The nearest hits of one language: their cosines, and how far each stands out among all hits of its language.

    `usual`: how many hits say what is usual in it.
    """

    cosines: Mapping[At, float]
    standing: Mapping[At, float]
    usual: int


def _near(
    catalog: Catalog,
    snapshot: Snapshot,
    view: View,
    found: Sequence[HitCosines],
    masks: Sequence[HitMask | None] | None,
    count: int,
) -> list[_Near]:
    """Return for each language its `count` nearest hits."""
    held: dict[str, list[tuple[int, NDArray[np.int64]]]] = {}
    values: dict[str, list[NDArray[np.float32]]] = {}
    languages, samples = usual.by_language(catalog, snapshot), usual.sample(catalog, snapshot, view)
    for position, one in enumerate(found):
        finite = np.isfinite(one.hits)
        for language, inside in languages[position].items():
            held.setdefault(language, []).append((position, np.flatnonzero(inside & finite)))
            drawn = samples[position].get(language, _NO_HITS)
            values.setdefault(language, []).append(one.hits[drawn[finite[drawn]]])
    standing = fusion.standing({language: np.concatenate(parts).astype(np.float64) for language, parts in values.items()})
    out = []
    for language, parts in held.items():
        rows: list[tuple[float, At]] = []
        for position, hits in parts:
            mask = masks[position] if masks is not None else None
            allowed = hits if mask is None else hits[mask[hits]]
            # Cosines can be negative; shifted, they are what `at_least` takes.
            best = allowed[bm25.at_least(found[position].hits[allowed] + np.float32(2.0), count)]
            rows.extend((float(found[position].hits[at]), (position, int(at))) for at in best)
        rows.sort(key=lambda row: (-row[0], row[1]))
        mean, deviation = standing[language]
        out.append(
            _Near(
                {at: cosine for cosine, at in rows[:count]},
                {at: (cosine - mean) / deviation if deviation else 0.0 for cosine, at in rows[:count]},
                sum(map(len, values[language])),
            )
        )
    return out


def _ids(catalog: Catalog, snapshot: Snapshot, hits: set[At]) -> dict[At, str]:
    sections = {at: int(snapshot.segments[at[0]].hit_section[at[1]]) for at in hits}
    names = search.ids_of(catalog, sorted(set(sections.values())))
    return {at: names[section] for at, section in sections.items()}


def _fuse(
    snapshot: Snapshot,
    keyword: Mapping[At, Scored],
    near: Sequence[_Near],
    called: Mapping[At, float],
    ids: Mapping[At, str],
    boosts: Mapping[int, float],
    support: float,
    how: SemanticSettings,
) -> list[_Fused]:
    """Return the candidates, one an id, best first; ties by id. `called`: how far hits stand out by their names. `boosts`: what
    being named adds to sections.

    `support`: how much of the question, by weight, the base's words know. Keywords count by it: a German question to English
    sections shares a word or two with some German section, and that is no reason to put it first.
    """
    plain = {at: max(hit.score - hit.named, 0.0) for at, hit in keyword.items()}
    standing = {at: value for one in near for at, value in one.standing.items()}
    if how.fusion == "rrf":
        first = fusion.reciprocal(fusion.ranks({at: hit.score for at, hit in keyword.items()}, ids))
        nearness = {at: part for one in near for at, part in fusion.reciprocal(fusion.ranks(one.cosines, ids)).items()}
        names = fusion.reciprocal(fusion.ranks(called, ids))
    else:
        # A section that holds no term of the query has the keyword score 0: that is the bottom of the scale.
        first = fusion.scaled(plain, 0.0) if any(plain.values()) else {}
        nearness = fusion.outstanding(standing, numbers.FULL_STANDING, sum(one.usual for one in near))
        names = fusion.outstanding(called, numbers.FULL_STANDING)
    cosine = {at: value for one in near for at, value in one.cosines.items()}
    groups: dict[int, list[At]] = {}
    for at in sorted(ids):
        segment = snapshot.segments[at[0]]
        groups.setdefault(int(segment.group[segment.hit_group[at[1]]]), []).append(at)
    out = []
    for variants in groups.values():
        # Every variant speaks for the id; the one shown holds the words, or is nearest, which is in the question's language.
        shown = min(variants, key=lambda at: (-first.get(at, 0.0), -cosine.get(at, -2.0), at))
        words_part = (1 - how.weight) * support * first.get(shown, 0.0)
        # Text and name are two signs of one thing: the weaker of them adds little to the stronger.
        near_part = how.weight * math.hypot(
            max(nearness.get(at, 0.0) for at in variants), numbers.NAMES_WEIGHT * max(names.get(at, 0.0) for at in variants)
        )
        section = int(snapshot.segments[shown[0]].hit_section[shown[1]])
        boost = boosts.get(section, 0.0) if shown in keyword and keyword[shown].named > 0 else 0.0
        stands, names_stand = (max(of.get(at, -math.inf) for at in variants) for of in (standing, called))
        out.append(_Fused(shown, words_part + near_part + boost, words_part, near_part, 0.0, boost, stands, names_stand))
    return sorted(out, key=lambda one: (-one.score, ids[one.at], one.at))


def _again(
    catalog: Catalog,
    snapshot: Snapshot,
    fused: list[_Fused],
    keyword: Mapping[At, Scored],
    found: list[HitCosines],
    ids: Mapping[At, str],
    scores_of: Callable[[list[str]], Any],
) -> list[_Fused]:
    """Return the candidates with the best of them looked at again: what that adds keeps them before all others."""
    top = fused[:RERANKED]
    passages = []
    for one in top:
        unit = _scored(snapshot, one, keyword.get(one.at), found).unit
        number = int(snapshot.segments[one.at[0]].unit_passage[unit]) if unit >= 0 else -1
        row = catalog.db.execute("SELECT heading, text FROM passages WHERE passage = ?", (number,)).fetchone()
        passages.append("\n".join(part for part in row if part) if row else "")
    scores = scores_of(passages)
    if len(scores) != len(passages) or not np.isfinite(scores).all():
        raise SemanticUnavailable("the reranker gave no finite score for every passage", "run: kb doctor")
    again = fusion.scaled({one.at: float(score) for one, score in zip(top, scores, strict=True)})
    top = [
        replace(one, score=one.score + numbers.RERANK_WEIGHT * again[one.at], again=numbers.RERANK_WEIGHT * again[one.at])
        for one in top
    ]
    return [*sorted(top, key=lambda one: (-one.score, ids[one.at], one.at)), *fused[RERANKED:]]


def _scored(snapshot: Snapshot, one: _Fused, hit: Scored | None, found: list[HitCosines]) -> Scored:
    """Return a candidate as the keyword ranking would: with the passage to show, the nearest where no word stands in any."""
    position, number = one.at
    unit = best_unit(snapshot.segments[position], found[position], number)
    if hit is None:
        return Scored(position, number, one.score, unit, -1, -1, 0.0)
    return replace(hit, score=one.score)


def _finish(
    result: Result, one: _Fused, hit: Scored | None, found: list[HitCosines], support: float, how: SemanticSettings
) -> Result:
    cosine = float(found[one.at[0]].hits[one.at[1]])
    if result.explanation is None:
        return result
    parts: dict[str, Any] = {
        "keyword": {
            "weight": round((1 - how.weight) * support, 6),
            "score": round(one.keyword, 6),
            "of": round(hit.score, 6) if hit is not None else 0.0,
            "parts": dict(result.explanation),
        },
        "dense": {
            "weight": how.weight,
            "score": round(one.near, 6),
            "cosine": round(cosine, 6) if np.isfinite(cosine) else None,
            "standing": _rounded(one.standing),
            "names": _rounded(one.called),
        },
        "id": {"score": one.named},
    }
    if one.again:
        parts["rerank"] = {"weight": numbers.RERANK_WEIGHT, "score": round(one.again, 6)}
    return replace(result, explanation=parts)


def _rounded(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None
