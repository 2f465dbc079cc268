"""Words that an unfinished one begins, for search while a question is being typed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kb.analysis import words
from kb.analysis.languages import is_function_word
from kb.index.segment import Segment
from kb.index.snapshot import Snapshot
from kb.ranking import weights
from kb.ranking.alternatives import Form
from kb.ranking.bm25 import idf
from kb.ranking.translate import Named
from kb.records import replace

_SEVERAL_FORMS = 4
"""Spellings that are looked at for each word that may be taken: many are forms of one word."""


def completions(word: str, snapshot: Snapshot) -> tuple[Form, ...]:
    """Return the words that a word as it is written so far may become, those in the most documents first, each once.

    They weigh no more than a word would that stands wherever one of them, or the word itself, does: a rare one among them tells
    nothing of its own. An identifier that begins no other goes on from its last part.
    """
    spelt = words.normalise(word)
    parts = words.pieces(word)
    found = _beginning(spelt, snapshot) or (_beginning(parts[-1], snapshot) if len(parts) > 1 else [])
    terms = _terms(found, snapshot)
    itself = snapshot.stored_terms(spelt) or ()
    held = {term: snapshot.frequency("text", term) or snapshot.frequency("head", term) for term in (*terms, *itself)}
    units = snapshot.text.units
    whole = idf(units, min(sum(held.values()), units))
    return tuple(
        Form(spelling, ((term,),), weights.PREFIX_WEIGHT * min(1.0, whole / idf(units, held[term])), given=False)
        for term, spelling in terms.items()
    )


def begun(word: str | None, snapshot: Snapshot) -> list[Named]:
    """Return what the word that is being typed may become, if any is. A function word is taken for itself."""
    if word is None or is_function_word(words.normalise(word), snapshot.languages):
        return []
    forms = completions(word, snapshot)
    return [Named((word,), forms)] if forms else []


def joined(named: Sequence[Named], begun: Sequence[Named]) -> list[Named]:
    """Return both; where a glossary names the word that is being typed, its forms and the completions are alternatives."""
    out = list(named)
    for one in begun:
        at = next((i for i in reversed(range(len(out))) if one.words[0] in out[i].words), None)
        if at is None:
            out.append(one)
        else:
            out[at] = replace(out[at], forms=(*out[at].forms, *one.forms))
    return out


def _beginning(spelt: str, snapshot: Snapshot) -> list[str]:
    """Return the spellings that begin so, those in the most documents first; the beginning itself is not among them."""
    if len(spelt) < (1 if words.is_cjk(spelt) else weights.PREFIX_SHORTEST):
        return []
    most = _SEVERAL_FORMS * weights.PREFIX_MOST
    found = {spelling for segment in snapshot.segments for spelling in _most_frequent(segment, spelt, most)} - {spelt}
    counts = {spelling: snapshot.documents_with(spelling) for spelling in found}
    live = [spelling for spelling in found if counts[spelling] and not is_function_word(spelling, snapshot.languages)]
    return sorted(live, key=lambda spelling: (-counts[spelling], spelling))


def _most_frequent(segment: Segment, spelt: str, most: int) -> list[str]:
    numbers = segment.words_beginning(spelt)
    if len(numbers) > most:
        counts = segment.word_documents[numbers]
        numbers = numbers[np.argpartition(counts, len(counts) - most)[len(counts) - most :]]
    return [segment.words[int(number)] for number in numbers]


def _terms(found: Sequence[str], snapshot: Snapshot) -> dict[str, str]:
    """Return the terms of the first so many words, each with the spelling that it is known by."""
    out: dict[str, str] = {}
    taken = 0
    for spelling in found:
        fresh = [
            term
            for term in snapshot.stored_terms(spelling) or ()
            if term not in out and (snapshot.frequency("text", term) or snapshot.frequency("head", term))
        ]
        out.update(dict.fromkeys(fresh, spelling))
        taken += bool(fresh)
        if taken == weights.PREFIX_MOST:
            break
    return out
