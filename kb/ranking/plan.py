"""From the words of a query to the terms that are scored: stems under each language, corrections, function words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kb.analysis import words
from kb.analysis.analyzer import Analyzer
from kb.analysis.languages import is_function_word
from kb.index.snapshot import Snapshot
from kb.ranking import near, spelling, weights
from kb.ranking.bm25 import idf
from kb.ranking.query import Query


@dataclass(frozen=True, slots=True)
class Plan:
    """What is scored for a query.

    `terms`: distinct terms in query order, each with its weight. `near`: terms of similar words with theirs; they add to
    hits that hold one of `terms` and bring in none themselves. `phrases`: for each word of a phrase the terms that may
    stand for it. `excluded`: for each excluded word its terms; a hit that holds all of one word's terms is left out.
    `corrected`: the query as it was searched, where words were corrected; else None. `support`: the share of the query's
    weight in words that the base knows, from 0 to 1; `asked`: how many words that is of.
    """

    query: Query
    terms: tuple[tuple[str, float], ...]
    near: tuple[tuple[str, float], ...]
    phrases: tuple[tuple[frozenset[str], ...], ...]
    excluded: tuple[tuple[str, ...], ...]
    corrected: str | None
    support: float = 1.0
    asked: int = 0


def plan(query: Query, snapshot: Snapshot, analyzer: Callable[[], Analyzer], *, fuzzy: bool = True) -> Plan:
    """Work out what to score. The analyzer is asked only for spellings that the index has never seen."""
    content: dict[str, float] = {}
    function: dict[str, float] = {}
    similar: dict[str, float] = {}
    widen = fuzzy and near.small(snapshot)
    compounds = near.compounding(snapshot)
    has_content = False
    corrected: dict[str, str] = {}
    known = total = 0.0
    asked = 0
    for word in query.words:
        spellings = words.spellings(word)
        is_function = len(spellings) == 1 and is_function_word(spellings[0], snapshot.languages)
        terms = _known(snapshot, analyzer, spellings)
        if not terms and not is_function and fuzzy:
            better = spelling.correct(word, snapshot)
            if better:
                corrected[word] = better
                terms = _known(snapshot, analyzer, words.spellings(better))
        has_content = has_content or not is_function
        if is_function:
            function.update(dict.fromkeys(terms, 1.0))
            continue
        content.update(dict.fromkeys(terms, 1.0))
        weight = _weight(snapshot, terms)
        asked += 1
        total += weight
        known += weight * (0.0 if not terms else weights.CORRECTED_SUPPORT if word in corrected else 1.0)
        if widen or (fuzzy and not terms):
            for other in near.near(words.normalise(corrected.get(word, word)), snapshot):
                alone = other.part and (not terms or compounds)
                if alone and not terms:
                    known += weight * other.similarity * weights.CORRECTED_SUPPORT
                into = content if alone else similar
                for term in _known(snapshot, analyzer, [other.spelling]):
                    into[term] = max(into.get(term, 0.0), weights.NEAR_WEIGHT * other.similarity)
    chosen = content if has_content else function
    return Plan(
        query,
        tuple(chosen.items()),
        tuple((term, weight) for term, weight in similar.items() if term not in chosen) if has_content else (),
        tuple(
            tuple(frozenset(_terms(snapshot, analyzer, words.spellings(corrected.get(w, w)))) for w in phrase)
            for phrase in query.phrases
        ),
        tuple(tuple(_terms(snapshot, analyzer, [words.normalise(word)])) for word in query.excluded),
        _corrected(query.text, corrected),
        min(known / total, 1.0) if total else 1.0,
        asked,
    )


def _terms(snapshot: Snapshot, analyzer: Callable[[], Analyzer], spellings: list[str]) -> list[str]:
    return [term for one in spellings for term in snapshot.terms_of(one, analyzer)]


def _known(snapshot: Snapshot, analyzer: Callable[[], Analyzer], spellings: list[str]) -> list[str]:
    return [
        term
        for term in dict.fromkeys(_terms(snapshot, analyzer, spellings))
        if snapshot.frequency("text", term) or snapshot.frequency("head", term)
    ]


def _weight(snapshot: Snapshot, terms: list[str]) -> float:
    """Return how much a word says: the idf of its rarest term, and that of an unseen one for a word without terms."""
    frequencies = [max(snapshot.frequency("text", term), snapshot.frequency("head", term)) for term in terms]
    return idf(snapshot.text.units, min(frequencies, default=0))


def _corrected(text: str, corrected: dict[str, str]) -> str | None:
    if not corrected:
        return None
    return words.WORD.sub(lambda match: corrected.get(match.group(), match.group()), text)
