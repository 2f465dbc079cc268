"""A question into an answer: plan, filters, ranking, and the words that show why each hit is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kb.analysis import words
from kb.answers import Result, SearchAnswer
from kb.index.catalog import Catalog
from kb.index.segment import Segment
from kb.index.snapshot import Snapshot
from kb.ranking import bm25, groups, shown, snippet
from kb.ranking import weights as numbers
from kb.ranking.alternatives import explained
from kb.ranking.plan import Plan, plan
from kb.ranking.query import Query, parse
from kb.ranking.ranker import HitMask, Ranking, Scored, Weights, holding, lead_units, mask_of, rank
from kb.records import record, replace

if TYPE_CHECKING:
    from kb.analysis.analyzer import Analyzer
    from kb.analysis.glossary import Glossary

_LONGEST_NAME = 40
_ABOUT_SOMETHING_ELSE = "the base knows too few words of this question; ask with those that matter most, or fewer"
_NO_SNIPPET = snippet.Snippet("", ())
Rank = Callable[..., Ranking]
"""Ranks as `kb.ranking.ranker.rank` does."""


@record
class Filters:
    """Which hits may be returned; empty means all."""

    collections: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    status: str | None = None
    language: str | None = None


def search(
    catalog: Catalog,
    snapshot: Snapshot,
    text: str,
    *,
    analyzer: Callable[[], Analyzer],
    limit: int,
    offset: int,
    filters: Filters,
    weights: Weights | None = None,
    fuzzy: bool = True,
    glossary: Glossary | None = None,
    typing: bool = False,
    snippets: bool = True,
    explain: bool = False,
    rank_by: Rank = rank,
) -> SearchAnswer:
    """Answer a query in keyword mode. Call it inside `catalog.reading()`. Without `snippets` they are empty, and not made.

    `typing`: the query's last word may be unfinished. `glossary`: what else words are called.
    """
    query = parse(text, typing=typing)
    used = weights or Weights()
    named = named_sections(catalog, query)
    made = plan(query, snapshot, analyzer, fuzzy=fuzzy, glossary=glossary)
    made, ranking, warning = ranked(
        catalog, snapshot, query, made, offset + limit, filters, named, used, rank_by, analyzer=analyzer
    )
    page = ranking.hits[offset : offset + limit]
    results = _results(catalog, snapshot, made, ranking, page, used, named, snippets, explain)
    if made.support < numbers.WEAK_SUPPORT:
        results = [replace(result, low_confidence=True) for result in results]
    return SearchAnswer(query.text, "keyword", tuple(results), ranking.total, warning, made.corrected, made.also)


def ranked(
    catalog: Catalog,
    snapshot: Snapshot,
    query: Query,
    made: Plan,
    count: int,
    filters: Filters,
    named: Mapping[int, int],
    used: Weights,
    rank_by: Rank = rank,
    *,
    analyzer: Callable[[], Analyzer],
) -> tuple[Plan, Ranking, str | None]:
    """Return the best `count` hits by keywords, with the plan that was used and a warning where it had to be loosened.

    `rank_by` stands in for `kb.ranking.ranker.rank` where candidates come from elsewhere.
    """
    boosts = titled_sections(catalog, snapshot, made, analyzer) | dict.fromkeys(named, numbers.ID_BOOST)

    def found(made: Plan) -> Ranking:
        allowed = masks(catalog, snapshot, made, filters)
        ranking = rank_by(
            snapshot,
            made,
            count,
            named=boosts,
            masks=allowed,
            key=lambda sections: ids_of(catalog, sections),
            weights_=used,
        )
        return ranking if allowed is None else replace(ranking, allowed=allowed)

    ranking, warning = found(made), None
    if query.quotes and not ranking.total:
        made = replace(made, phrases=())
        warning = "no section holds the words in quotes one after the other; searched for them as single words"
        ranking = found(made)
    if made.support < 1 and ranking.hits and not named:
        from kb.ranking import refusal  # on use: most bases know the words that they are asked

        if refusal.is_about_something_else(snapshot, made, ranking.hits[0]):
            return made, Ranking((), 0, (), (), allowed=ranking.allowed), _ABOUT_SOMETHING_ELSE
    return made, ranking, warning


# -- what may be returned --------------------------------------------------------------------------------------


def titled_sections(catalog: Catalog, snapshot: Snapshot, made: Plan, analyzer: Callable[[], Analyzer]) -> dict[int, float]:
    """Return what is added to hits one of whose names is the query, word for word, in whatever forms the words stand."""
    query = made.query
    asked = words.find(made.corrected or query.text) if made.corrected or query.phrases else query.plain
    if not asked or made.excluded or made.excluded_phrases:
        return {}
    held: dict[str, tuple[int, list[str | None]]] = snapshot.remembered("words as in names")
    found = [held.get(word) or held.setdefault(word, _in_names(word, snapshot, analyzer)) for word in asked]
    if not 0 < sum([count for count, _ in found]) <= _LONGEST_NAME:
        return {}
    keys = {
        " ".join(filter(None, terms))
        for terms in zip(*[by_language for _, by_language in found], strict=True)
        if None not in terms
    }
    if not keys:
        return {}  # in each language one of the words stands in no name
    marks = ",".join("?" * len(keys))
    rows = catalog.db.execute(f"SELECT section, max(title) FROM names WHERE key IN ({marks}) GROUP BY section", sorted(keys))
    return {section: numbers.TITLE_BOOST if title else numbers.ALIAS_BOOST for section, title in rows}


def _in_names(word: str, snapshot: Snapshot, analyzer: Callable[[], Analyzer]) -> tuple[int, list[str | None]]:
    """Return how many spellings a word has, and for each language its terms as names go by; None where no name has them."""
    spelt = words.spellings(word)
    out: list[str | None] = []
    for language in snapshot.languages:
        terms = [snapshot.term_of(spelling, language) or analyzer().term(spelling, language) for spelling in spelt]
        out.append(" ".join(terms) if all(snapshot.frequency("head", term) for term in terms) else None)
    return len(spelt), out


def named_sections(catalog: Catalog, query: Query) -> dict[int, int]:
    """Return hit -> section for the sections whose id the query names."""
    wanted = [word for word in query.words if words.is_identifier(word)]
    wanted += [query.text.strip("\"'")]
    only_ids = all(words.is_identifier(word) for word in query.words)
    out: dict[int, int] = {}
    for word in dict.fromkeys(wanted):
        rows: list[tuple[int, int, bool, str]] = catalog.db.execute(
            "SELECT hit, section, source = variant, id FROM sections JOIN documents USING (document)"
            " WHERE lower(id) = lower(?) AND hit IS NOT NULL",
            (word,),
        ).fetchall()
        rows = [row for row in rows if row[3] == word] or rows
        flat = {row[3] for row in rows if row[2]}
        for hit, section, is_flat, id_ in rows:
            # An id says nothing of a language: where nothing else is asked, the variant that lies flat answers.
            if is_flat or id_ not in flat or not only_ids:
                out.setdefault(hit, section)
    return out


def masks(catalog: Catalog, snapshot: Snapshot, made: Plan, filters: Filters) -> list[HitMask | None] | None:
    """Return for each segment which hits filters, phrases and exclusions allow; None where all are."""
    if filters == Filters() and not (made.phrases or made.excluded or made.excluded_phrases):
        return None
    documents = _documents(catalog, filters)
    wanted = [_sequence(snapshot, *two) for two in zip(made.phrases, made.query.phrases, strict=False)]
    unwanted = [_sequence(snapshot, *two) for two in zip(made.excluded_phrases, made.query.excluded_phrases, strict=True)]
    out: list[HitMask | None] = []
    for segment in snapshot.segments:
        mask = np.ones(len(segment.hit_section), dtype=bool)
        if documents is not None:
            mask &= mask_of(segment, documents)
        for terms in made.excluded:
            if terms:
                mask &= ~holding(segment, terms)
        mask[segment.dead.hits] = False
        for sequence, alternatives in zip(wanted, made.phrases, strict=False):
            mask &= _with_phrase(catalog, segment, mask, sequence, alternatives)
        for sequence, alternatives in zip(unwanted, made.excluded_phrases, strict=True):
            mask &= ~_with_phrase(catalog, segment, mask, sequence, alternatives)
        out.append(mask)
    return out


def _documents(catalog: Catalog, filters: Filters) -> list[int] | None:
    clauses: list[str] = []
    values: list[str] = []
    for column, chosen in (
        ("collection", filters.collections),
        ("type", filters.types),
        ("status", (filters.status.encode("utf-8", "replace").decode("utf-8"),) if filters.status is not None else ()),
        ("language", (filters.language,) if filters.language is not None else ()),
    ):
        if chosen:
            clauses.append(f"{column} IN ({','.join('?' * len(chosen))})")
            values.extend(chosen)
    if not clauses:
        return None
    rows = catalog.db.execute(f"SELECT document FROM documents WHERE {' AND '.join(clauses)}", values)
    return [row[0] for row in rows]


def _sequence(snapshot: Snapshot, phrase: Sequence[Iterable[str]], spelt: Sequence[str]) -> list[set[str]]:
    """Return what may stand at each place of a phrase: `phrase` has the terms of its words, `spelt` the words."""
    out: list[set[str]] = []
    for alternatives, word in zip(phrase, spelt, strict=True):
        # A word of several pieces (an identifier) must stand as it is; one of a language in any of its forms.
        own = words.pieces(word)
        out.extend([{*snapshot.spellings_of(alternatives), *own}] if len(own) == 1 else [{piece} for piece in own])
    return out


def _with_phrase(
    catalog: Catalog, segment: Segment, mask: HitMask, sequence: Sequence[set[str]], phrase: Sequence[Iterable[str]]
) -> HitMask:
    """Return in which of the hits of a mask a phrase occurs word after word, in a passage or a name."""
    out = mask.copy()
    for alternatives in phrase:
        out &= holding(segment, alternatives)
    for hit in np.flatnonzero(out).tolist():
        out[hit] = any(_occurs(text, sequence) for text in _hit_texts(catalog, segment, hit))
    return out


def _hit_texts(catalog: Catalog, segment: Segment, hit: int) -> Iterable[str]:
    section = int(segment.hit_section[hit])
    for (name,) in catalog.db.execute("SELECT name FROM names WHERE section = ?", (section,)):
        yield name
    passages = segment.unit_passage[segment.hit_start[hit] : segment.hit_start[hit + 1]].tolist()
    for passage in passages:
        found = catalog.db.execute("SELECT heading, text FROM passages WHERE passage = ?", (passage,)).fetchone()
        if found:
            yield from found


def _occurs(text: str, sequence: Sequence[set[str]]) -> bool:
    pieces = [piece for word in words.find(text) for piece in words.pieces(word)]
    first = sequence[0]
    return any(
        piece in first and all(other in wanted for other, wanted in zip(pieces[at:], sequence, strict=False))
        for at, piece in enumerate(pieces[: len(pieces) - len(sequence) + 1])
    )


def ids_of(catalog: Catalog, sections: Sequence[int]) -> dict[int, str]:
    """Return the ids of sections, by section number."""
    out: dict[int, str] = {}
    for start in range(0, len(sections), 500):
        chunk = sections[start : start + 500]
        marks = ",".join("?" * len(chunk))
        out.update(catalog.db.execute(f"SELECT section, id FROM sections WHERE section IN ({marks})", chunk).fetchall())
    return out


# -- what is shown ---------------------------------------------------------------------------------------------


def _results(
    catalog: Catalog,
    snapshot: Snapshot,
    made: Plan,
    ranking: Ranking,
    page: Sequence[Scored],
    used: Weights,
    named: Mapping[int, int],
    snippets: bool,
    explain: bool,
) -> list[Result]:
    spellings = weighted_spellings(snapshot, ranking) if page and snippets else None
    return results_of(catalog, snapshot, made, ranking, page, used, spellings, named, explain)


def weighted_spellings(snapshot: Snapshot, ranking: Ranking) -> dict[str, float]:
    """Return the spellings to mark in snippets, each with the weight of its term."""
    out: dict[str, float] = {}
    known = snapshot.remembered("spellings of a term")
    for term, idf in {term.term: term.idf for term in ranking.terms}.items():
        found = known.get(term)
        for spelling in snapshot.spellings_of_term(term) if found is None else found:
            out[spelling] = idf
    return out


def result_of(
    catalog: Catalog,
    snapshot: Snapshot,
    made: Plan,
    ranking: Ranking,
    scored: Scored,
    used: Weights,
    spellings: Mapping[str, float] | None,
    named: Mapping[int, int],
    explain: bool,
    nearest: Callable[[groups.At], int] | None = None,
) -> Result:
    """Return what is shown of one hit."""
    return results_of(catalog, snapshot, made, ranking, [scored], used, spellings, named, explain, nearest)[0]


def results_of(
    catalog: Catalog,
    snapshot: Snapshot,
    made: Plan,
    ranking: Ranking,
    page: Sequence[Scored],
    used: Weights,
    spellings: Mapping[str, float] | None,
    named: Mapping[int, int],
    explain: bool,
    nearest: Callable[[groups.At], int] | None = None,
) -> list[Result]:
    """Return what is shown of hits: of variants the one in the question's language, with the score of the best.

    `nearest` gives the unit of the passage that is shown of another variant; None for the one with most of the words.
    """
    shown_ = groups.shown(catalog, snapshot, made, [(scored.segment, scored.hit) for scored in page], ranking.allowed)
    numbers = [int(snapshot.segments[at].hit_section[hit]) for at, hit in shown_]
    best = nearest or (lambda at: shown.best_passage(snapshot, at, ranking, used))
    own = [one.unit if at == (one.segment, one.hit) else best(at) for one, at in zip(page, shown_, strict=True)]
    units = [
        _passage(catalog, snapshot, *two, named.get(of)) for two, of in zip(zip(shown_, own, strict=True), numbers, strict=True)
    ]
    texts = shown.passages(catalog, snapshot, [number for number in units if number is not None])
    begin = None if spellings is None else snippet.beginnings(spellings)
    out = []
    for scored, unit, one in zip(page, units, shown.sections(catalog, snapshot, numbers), strict=True):
        passage, text = texts[unit] if unit is not None else (None, "")
        cut = snippet.cut(text, spellings, begin) if spellings is not None else _NO_SNIPPET
        out.append(
            Result(
                id=one.id,
                title=one.title,
                score=round(scored.score, 6),
                snippet=cut.text,
                path=one.path,
                collection=one.collection,
                type=one.type,
                language=one.language,
                languages=one.languages,
                source=one.source,
                passage=passage,
                highlights=cut.highlights,
                explanation=_explanation(snapshot, ranking, scored, used) if explain else None,
            )
        )
    return out


def _passage(catalog: Catalog, snapshot: Snapshot, at: groups.At, unit: int, named: int | None) -> int | None:
    """Return the number of the passage that stands for a hit, None where it has no text."""
    if unit < 0:
        return None
    # Where the query names a section, that one's own beginning is shown.
    first = shown.first_passage(catalog, named) if named is not None else None
    return first if first is not None else int(snapshot.segments[at[0]].unit_passage[unit])


def _explanation(snapshot: Snapshot, ranking: Ranking, scored: Scored, used: Weights) -> dict[str, Any]:
    """Return what each part and term adds to the score; the parts add up to it."""
    segment = snapshot.segments[scored.segment]
    lead = int(lead_units(segment)[scored.hit])
    parts: dict[str, Any] = {}
    text = ("text", ranking.text, ranking.instead_text, snapshot.text.mean, used.text)
    head = ("head", ranking.head, ranking.instead_head, snapshot.head.mean, used.head)
    for name, unit, weight, (field, terms, instead, mean, parameters) in (
        ("passage", scored.unit, used.passage, text),
        ("second", scored.second, used.second, text),
        ("lead", lead, used.lead, text),
        ("head", scored.name, used.title, head),
    ):
        found = bm25.contributions(segment, field, unit, terms, mean, parameters)
        forms = explained(segment, field, unit, instead, mean, parameters, found)
        weighted = {term: round(weight * value, 6) for term, value in found.items()}
        parts[name] = {"weight": weight, "score": round(sum(weight * v for v in found.values()), 6), "terms": weighted}
        if forms:
            parts[name]["instead"] = forms
    parts["id"] = {"score": round(scored.named, 6)}
    return parts
