"""From the words of a query to the terms that are scored: stems under each language, corrections, function words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from kb.analysis import words
from kb.analysis.languages import FUNCTION_WORDS, is_function_word, of_question
from kb.index.snapshot import Snapshot
from kb.ranking import near, prefix, rarity, weights
from kb.ranking.alternatives import Alternatives, Form
from kb.ranking.bm25 import idf
from kb.ranking.query import Query
from kb.ranking.translate import Named, translate
from kb.records import record, replace

if TYPE_CHECKING:
    from kb.analysis.analyzer import Analyzer
    from kb.analysis.glossary import Glossary


@record
class Asked:
    """A word of a query: how much it says, and the terms that stand for it (its own, its correction's, a glossary's).

    `sure`: it is known as it is spelt; false where it was corrected, or only a piece of it is known. `parts`: terms of words
    that are a part of it, or that it is a part of.
    """

    weight: float
    terms: tuple[str, ...]
    sure: bool
    parts: tuple[str, ...] = ()


@record
class Plan:
    """What is scored for a query.

    `terms`: distinct terms in query order, each with its weight. `near`: terms of similar words with theirs; they add to
    hits that hold one of `terms` and bring in none themselves. `phrases`: for each word of a phrase the terms that may
    stand for it. `excluded`: for each excluded word its terms; a hit that holds all of one word's terms is left out.
    `excluded_phrases`: as `phrases`; a hit in which one occurs is left out.
    `corrected`: the query as it was searched, where words were corrected; else None. `support`: the share of the query's
    weight in words that the base knows, from 0 to 1; `words`: those that carry the weight. `alternatives`: what may stand for
    some of `terms`, or brings in hits where the base has none of them; `also`: those that a glossary gave, as it spells them.
    `shares`: of terms that count for less in passages and leads, see `kb.ranking.rarity`.
    """

    query: Query
    terms: tuple[tuple[str, float], ...]
    near: tuple[tuple[str, float], ...]
    phrases: tuple[tuple[frozenset[str], ...], ...]
    excluded: tuple[tuple[str, ...], ...]
    corrected: str | None
    support: float = 1.0
    words: tuple[Asked, ...] = ()
    alternatives: tuple[Alternatives, ...] = ()
    also: tuple[str, ...] = ()
    shares: Mapping[str, float] = rarity.NOTHING
    excluded_phrases: tuple[tuple[frozenset[str], ...], ...] = ()

    def in_text(self, terms: Sequence[tuple[str, float]]) -> Sequence[tuple[str, float]]:
        """Return terms with what they count for in passages and leads."""
        if not self.shares:
            return terms
        return [(term, weight * self.shares.get(term, 1.0)) for term, weight in terms]

    @property
    def forms(self) -> tuple[Form, ...]:
        """Every form of the alternatives."""
        return tuple(form for one in self.alternatives for form in one.forms)

    @property
    def all_terms(self) -> tuple[tuple[str, float], ...]:
        """Every term that may bring in a hit: those of the query, then those of alternatives."""
        if not self.alternatives:
            return self.terms
        out = {term: form.weight for form in self.forms for word in form.words for term in word}
        return tuple((out | dict(self.terms)).items())


def plan(
    query: Query,
    snapshot: Snapshot,
    analyzer: Callable[[], Analyzer],
    *,
    fuzzy: bool = True,
    glossary: Glossary | None = None,
) -> Plan:
    """Work out what to score. The analyzer is asked only for spellings that the index has never seen."""
    content: dict[str, float] = {}
    function: dict[str, float] = {}
    similar: dict[str, float] = {}
    widen = fuzzy and near.small(snapshot)
    compounds = near.compounding(snapshot)
    held: dict[str, _Word] = snapshot.remembered("words of queries")
    read = [held.get(word) or held.setdefault(word, _read(word, snapshot, analyzer)) for word in query.words]
    named = translate(glossary, query.plain, snapshot, analyzer)
    begun = prefix.begun(query.unfinished, snapshot)
    sure = {word for one in (*named, *begun) for word in one.words}
    # A glossary may name one piece of a word, and another be misspelt.
    settled = {query.unfinished, *(word.text for word in read if word.text in sure and (word.whole or word.text.isalpha()))}
    of_a_name: dict[str, str] = {}
    if fuzzy and not (query.phrases or query.excluded or query.unfinished or _names_all(named, read)):
        of_a_name = _of_a_name(read, snapshot, analyzer)
    corrected = of_a_name or (_corrections(query, read, settled, snapshot, analyzer) if fuzzy else {})
    language = _language(query, snapshot) if corrected and not of_a_name else None
    known = 0.0
    weighed: list[Asked] = []
    for word in read:
        better = corrected.get(word.text)
        terms = word.terms if better is None else tuple(_known(snapshot, analyzer, words.spellings(better)))
        if word.is_function or (better is not None and is_function_word(words.normalise(better), snapshot.languages)):
            function.update(dict.fromkeys(terms, 1.0))
            if not word.is_function:  # another word may have been meant after all
                similar.update(dict.fromkeys(terms, weights.SPELLING_FUNCTION))
            continue
        typing = word.text == query.unfinished
        if typing and not terms and word.text not in sure:
            continue  # nothing begins so: what it will become is not known yet
        content.update(dict.fromkeys(terms, 1.0))
        weight = word.weight if better is None else _weight(snapshot, terms)
        standing = (*terms, *(term for one in named if word.text in one.words for term in one.terms)) if named else tuple(terms)
        parts: list[str] = []
        # A word of the question's language that is none of the base's is read as one of another language: that may be wrong.
        guessed = better is not None and language is not None and rarity.is_foreign(snapshot, terms, language)
        known += weight if (terms or word.text in sure) and not guessed else 0.0
        if not typing and (widen or (fuzzy and not terms and word.text not in sure)):
            for other in near.near(words.normalise(better or word.text), snapshot):
                alone = other.part and (not terms or compounds)
                if alone and not terms:
                    known += weight * other.similarity * weights.PART_SUPPORT
                into = content if alone else similar
                for term in _known(snapshot, analyzer, [other.spelling]):
                    into[term] = max(into.get(term, 0.0), weights.NEAR_WEIGHT * other.similarity)
                    parts += [term] if alone else []
        weighed.append(Asked(weight, standing, word.text in sure or (word.whole and better is None), tuple(parts)))
    if corrected and glossary is not None:
        named = translate(glossary, [corrected.get(word, word) for word in query.plain], snapshot, analyzer)
    has_content = bool(weighed)
    total = sum(one.weight for one in weighed)
    chosen = content if has_content else function
    every = prefix.joined(named, begun)
    alternatives, also = _alternatives([(one, _known(snapshot, analyzer, one.spellings)) for one in every], chosen)
    placed = {*chosen, *(term for one in alternatives for form in one.forms for word in form.words for term in word)}
    return Plan(
        query,
        tuple(chosen.items()),
        tuple((term, weight) for term, weight in similar.items() if term not in placed) if has_content else (),
        tuple(
            tuple(frozenset(_terms(snapshot, analyzer, words.spellings(corrected.get(w, w)))) for w in phrase)
            for phrase in query.phrases
        ),
        tuple(tuple(_terms(snapshot, analyzer, [words.normalise(word)])) for word in query.excluded),
        _corrected(query.text, corrected),
        min(known / total, 1.0) if total else 1.0,
        tuple(weighed),
        alternatives,
        also,
        rarity.shares(snapshot, [*placed, *similar]),
        tuple(
            tuple(frozenset(_terms(snapshot, analyzer, words.spellings(w))) for w in phrase) for phrase in query.excluded_phrases
        ),
    )


def _alternatives(
    named: Sequence[tuple[Named, list[str]]], chosen: dict[str, float]
) -> tuple[tuple[Alternatives, ...], tuple[str, ...]]:
    """Return what may stand for terms of a query, and the texts that a glossary gave for it; each term stands in one place.

    Terms that only similar words have brought into `chosen` are taken out of it where a glossary knows better.
    """
    asked = {term for term, weight in chosen.items() if weight >= 1.0}
    taken: set[str] = set()
    out: list[Alternatives] = []
    also: dict[str, None] = {}
    for one, terms in named:
        own = tuple(term for term in terms if term in asked and term not in taken)
        forms = [
            replace(form, words=kept)
            for form in one.forms
            if (kept := tuple(rest for word in form.words if (rest := tuple(t for t in word if t not in asked | taken))))
        ]
        taken.update(own, (term for form in forms for word in form.words for term in word))
        if forms:
            out.append(Alternatives(own, tuple(forms)))
            also.update(dict.fromkeys(form.text for form in forms if form.given))
    for term in taken - asked:
        chosen.pop(term, None)
    return tuple(out), tuple(also)


@record
class _Word:
    """A word of a query, and the terms of it that the index holds.

    `held`: the same for each of its spellings. `whole` where it holds every piece of it; `seen` where each piece stands somewhere
    in this very form.
    """

    text: str
    is_function: bool
    terms: tuple[str, ...]
    held: dict[str, list[str]]
    whole: bool
    seen: bool
    weight: float


def _read(word: str, snapshot: Snapshot, analyzer: Callable[[], Analyzer]) -> _Word:
    spellings = words.spellings(word)
    is_function = len(spellings) == 1 and is_function_word(spellings[0], snapshot.languages)
    held = {spelling: _known(snapshot, analyzer, [spelling]) for spelling in spellings}
    entire = words.normalise(word)
    # A single letter before a capital is more often a slip of the finger than a name.
    pieces = [
        found if len(spelling) > 1 or not entire.isalpha() else [] for spelling, found in held.items() if spelling != entire
    ]
    whole = bool(held.get(entire)) or (bool(pieces) and all(pieces))
    terms = tuple(dict.fromkeys(term for terms in held.values() for term in terms))
    alone = [entire] if len(spellings) == 1 else words.pieces(word) if not entire.isalpha() else []
    seen = all(snapshot.stored_terms(piece) is not None for piece in alone if piece.isalpha())
    return _Word(word, is_function, terms, held, whole, seen, _weight(snapshot, terms))


def _corrections(
    query: Query, read: Sequence[_Word], settled: Set[str | None], snapshot: Snapshot, analyzer: Callable[[], Analyzer]
) -> dict[str, str]:
    asked = [word for word in read if not (word.is_function or word.text in settled)]
    unknown = [word.text for word in asked if not word.whole]
    unseen = [word.text for word in asked if word.whole and not word.seen] if near.small(snapshot) else []
    if not unknown and not unseen:
        return {}
    from kb.ranking import spelling  # on use: most queries hold known words alone

    company = [t for word in read if word.whole and not word.is_function and word.text not in unseen for t in word.terms]
    return spelling.corrections(
        unknown,
        unseen,
        company,
        snapshot,
        lambda spelt: _known(snapshot, analyzer, [spelt]),
        lambda spelt: analyzer().is_word(spelt, snapshot.languages),
        _language(query, snapshot),
    )


def _language(query: Query, snapshot: Snapshot) -> str | None:
    """Return the language that a query is in, whether the base holds it or not; None where it is not clear."""
    return of_question(query.words, {*FUNCTION_WORDS, *snapshot.languages})


def _names_all(named: Sequence[Named], read: Sequence[_Word]) -> bool:
    """Tell whether a single term of a glossary is all that a query says."""
    return any(all(word.is_function or (word.text in one.words and word.text.isalpha()) for word in read) for one in named)


def _of_a_name(read: Sequence[_Word], snapshot: Snapshot, analyzer: Callable[[], Analyzer]) -> dict[str, str]:
    """Return the one word that keeps a query from being a name of the base, with what was meant.

    Where the base knows all words it is looked for in small bases only.
    """
    asked = [word for word in read if not word.is_function]
    unknown = [word for word in asked if not word.whole]
    if len(unknown) > 1 or not (unknown or near.small(snapshot)):
        return {}
    doubtful = {
        spelling: 2 if unknown and len(spelling) >= weights.SPELLING_TWO_EDITS_FROM else 1
        for word in unknown or asked
        for spelling in word.held
        if len(spelling) >= weights.SPELLING_SHORTEST_IN_COMPANY
    }
    tokens = [terms for word in read for terms in word.held.values()]
    if not doubtful or len(tokens) < 2:
        return {}
    # A slip in a piece of a word is one in all that is made of the piece.
    lacking = max(sum(piece in spelling for spelling in word.held) for word in unknown or asked for piece in word.held)
    pairs = near.left_over(tokens, doubtful, lacking, snapshot)
    if not pairs:
        return {}
    from kb.ranking import spelling as spelt  # on use, as above

    return spelt.of_a_name(pairs, [word.text for word in read], doubtful, snapshot, lambda one: snapshot.terms_of(one, analyzer))


def _terms(snapshot: Snapshot, analyzer: Callable[[], Analyzer], spellings: list[str]) -> list[str]:
    return [term for one in spellings for term in snapshot.terms_of(one, analyzer)]


def _known(snapshot: Snapshot, analyzer: Callable[[], Analyzer], spellings: list[str]) -> list[str]:
    return [
        term
        for term in dict.fromkeys(_terms(snapshot, analyzer, spellings))
        if snapshot.frequency("text", term) or snapshot.frequency("head", term)
    ]


def _weight(snapshot: Snapshot, terms: Sequence[str]) -> float:
    """Return how much a word says: the idf of its rarest term, and that of an unseen one for a word without terms."""
    frequencies = [max(snapshot.frequency("text", term), snapshot.frequency("head", term)) for term in terms]
    return idf(snapshot.text.units, min(frequencies, default=0))


def _corrected(text: str, corrected: dict[str, str]) -> str | None:
    if not corrected:
        return None
    return words.WORD.sub(lambda match: corrected.get(match.group(), match.group()), text)
