"""A context pack for a question: the best passages of the best sections, word for word, within a budget of characters.

Each section gives its best passage first; a further one of the same section counts for less, so that a pack is not
filled from one place. A long passage gives at first only the lines that hold most of the question, so that several
sections have room; what room is left then goes to the rest of the passages, the best first. Passages that say nearly the
same as one already taken are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kb.answers import Result, SearchAnswer
from kb.config import Collection
from kb.errors import ArgumentError
from kb.reading import section, windows
from kb.reading.paths import breadcrumb
from kb.reading.records import GroundAnswer, GroundPassage

if TYPE_CHECKING:
    from kb.analysis.analyzer import Analyzer
    from kb.analysis.glossary import Glossary
    from kb.index.catalog import Catalog
    from kb.index.snapshot import Snapshot
    from kb.ranking.bm25 import WeightedTerm

BUDGETS = (200, 1_000_000)
"""Characters that a pack may be asked to have at most."""
HITS = 20
"""Sections that passages are taken from."""
_PER_HIT = 4
_FURTHER = 0.4  # what each further passage of the same section counts, of the one before
_WEAK = 0.2  # of the best value; what is weaker is no ground for an answer
_SHINGLE = 3  # words
_SAME = 0.5  # share of word triples in common from which two passages say the same
_FIRST_SHARE = 4  # the best passage may take a fourth of the budget, each other one a tenth, before the rest is dealt out
_SHARE = 10
_LEAST = 400  # characters
_NAMED_AT_MOST = 10
_NAMING = 500  # characters


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A passage that may go into the pack; `group` is the id that variants share, `value` orders it."""

    group: tuple[str, str]
    id: str
    title: str
    path: str
    collection: str
    source: str
    lines: tuple[int, int]
    language: str | None
    score: float
    value: float


Found = tuple[list[_Candidate], dict[str, float]]


def check(question: str, budget: int) -> None:
    """Raise ArgumentError where no pack can be made so; `question` is trimmed."""
    if isinstance(budget, bool) or not isinstance(budget, int) or not BUDGETS[0] <= budget <= BUDGETS[1]:
        raise ArgumentError(f"budget must be from {BUDGETS[0]} to {BUDGETS[1]} characters, got {budget}")
    least = GroundAnswer(question, "keyword", budget, (), 999).characters
    if least > budget:
        raise ArgumentError(f"budget {budget} has no room for passages: the question alone takes {least} characters")


def of_search(
    catalog: Catalog,
    snapshot: Snapshot,
    analyzer: Callable[[], Analyzer],
    answer: SearchAnswer,
    glossary: Glossary | None = None,
) -> Found:
    """Return the passages of the sections that a search found, best first."""
    rows: dict[int, list[tuple[int, int, int, str, str]]] = {}
    for number, result in enumerate(answer.results):
        rows[number] = catalog.db.execute(
            "SELECT p.passage, p.first, p.last, s.id, s.title FROM passages p JOIN sections s USING (section)"
            " JOIN sections h ON h.section = s.hit JOIN documents d ON d.document = h.document"
            " WHERE h.id = ? AND h.collection = ? AND d.source = ? ORDER BY p.passage",
            (result.id, result.collection, result.source),
        ).fetchall()
    asked = _asked(snapshot, analyzer, answer.query, glossary)
    scores = _scores(snapshot, asked, [row[0] for held in rows.values() for row in held])
    found: list[_Candidate] = []
    for number, result in enumerate(answer.results):
        found += _of_hit(result, rows[number], scores)
    best = max((candidate.value for candidate in found), default=0.0)
    kept = [candidate for candidate in found if candidate.value >= _WEAK * best]
    return sorted(kept, key=lambda candidate: -candidate.value), _spellings(snapshot, asked)


def _of_hit(result: Result, rows: Sequence[tuple[int, int, int, str, str]], scores: Mapping[int, float]) -> Iterable[_Candidate]:
    shown = result.passage.lines if result.passage else None
    ordered = sorted(rows, key=lambda row: ((row[1], row[2]) != shown, -scores.get(row[0], 0.0), row[0]))
    top = max((scores.get(row[0], 0.0) for row in rows), default=0.0)
    for place, (passage, first, last, id_, title) in enumerate(ordered[:_PER_HIT]):
        share = 1.0 if place == 0 else _FURTHER**place * (scores.get(passage, 0.0) / top if top else 0.0)
        if share > 0:
            yield _Candidate(
                (result.collection, result.id), id_, title, result.path, result.collection, result.source, (first, last),
                result.language, result.score, result.score * share,
            )  # fmt: skip


def of_sections(
    catalog: Catalog,
    snapshot: Snapshot,
    analyzer: Callable[[], Analyzer],
    question: str,
    named: Sequence[section.Found],
    glossary: Glossary | None = None,
) -> Found:
    """Return the same for named sections: the passages nearest to the question first, the rest in the order of the file."""
    held: dict[int, tuple[section.Found, tuple[int, int, int, str, str, str, str]]] = {}
    whole: list[tuple[section.Found, str]] = []
    for one in named:
        rows = catalog.db.execute(
            "SELECT p.passage, p.first, p.last, s.id, s.title, d.source, coalesce(h.id, s.id) FROM passages p"
            " JOIN sections s USING (section) JOIN documents d ON d.document = p.document"
            " LEFT JOIN sections h ON h.section = s.hit"
            " WHERE p.document IS ? AND s.first >= ? AND s.last <= ? ORDER BY p.passage",
            (one.document, one.first, one.last),
        ).fetchall()
        held.update({row[0]: held.get(row[0], (one, row)) for row in rows})
        source = catalog.db.execute("SELECT source FROM documents WHERE document IS ?", (one.document,)).fetchone()
        if not rows and source is not None and one.id is not None:
            # A short section shares its passage with those around it: its own lines are what was asked for.
            whole.append((one, source[0]))
    asked = _asked(snapshot, analyzer, question, glossary)
    scores = _scores(snapshot, asked, list(held))
    best = max(scores.values(), default=0.0) or 1.0
    out = [
        _Candidate(
            (one.collection, row[6]), row[3], row[4], _path(catalog, one), one.collection, row[5], (row[1], row[2]),
            one.language, round(scores.get(passage, 0.0), 6), scores.get(passage, 0.0) / best,
        )
        for passage, (one, row) in held.items()
    ]  # fmt: skip
    out += [
        _Candidate(
            (one.collection, one.id or ""), one.id or "", one.title, _path(catalog, one), one.collection, source,
            (one.first, one.last), one.language, 0.0, 0.0,
        )
        for one, source in whole
    ]  # fmt: skip
    return sorted(out, key=lambda candidate: -candidate.value), _spellings(snapshot, asked)


def _path(catalog: Catalog, found: section.Found) -> str:
    return breadcrumb(catalog.db, found.collection, found.id or "", found.title, found.parent, found.language)


def _asked(snapshot: Snapshot, analyzer: Callable[[], Analyzer], question: str, glossary: Glossary | None) -> list[WeightedTerm]:
    from kb.ranking import bm25
    from kb.ranking.plan import plan
    from kb.ranking.query import parse

    made = plan(parse(question), snapshot, analyzer, glossary=glossary)
    return bm25.weigh(snapshot, "text", made.in_text([*made.all_terms, *made.near]))


def _spellings(snapshot: Snapshot, asked: Sequence[WeightedTerm]) -> dict[str, float]:
    weights = {term.term: term.idf for term in asked}
    return {spelling: weights[term] for spelling, term in snapshot.spellings_of(weights).items()}


def _scores(snapshot: Snapshot, asked: Sequence[WeightedTerm], passages: Sequence[int]) -> dict[int, float]:
    """Return the BM25 score of passages, by passage number."""
    import numpy as np

    from kb.ranking import bm25
    from kb.ranking.ranker import Weights

    wanted = np.asarray(passages, dtype=np.int64)
    out: dict[int, float] = {}
    for segment in snapshot.segments:
        units = np.flatnonzero(np.isin(segment.unit_passage, wanted))
        if len(units):
            scored = bm25.scores(segment, "text", asked, snapshot.text.mean, Weights().text)
            out.update(zip(segment.unit_passage[units].tolist(), scored[units].tolist(), strict=True))
    return out


def pack(
    question: str, mode: str, warning: str | None, found: Found, budget: int, collections: Mapping[str, Collection]
) -> GroundAnswer:
    """Choose passages, best first, while they fit. The text is read from the files as they stand."""
    candidates, spellings = found
    room = len(candidates)  # the count of what is omitted can't take more digits than this
    if GroundAnswer(question, mode, budget, (), room, (), warning).characters > budget:
        warning = None  # the budget holds whatever happens

    def answer(passages: Sequence[GroundPassage], omitted: int, named: Sequence[str] = ()) -> GroundAnswer:
        return GroundAnswer(question, mode, budget, tuple(passages), omitted, tuple(named), warning)

    def fits(passages: Sequence[GroundPassage]) -> bool:
        # Some room is kept for saying what is missing, except where it would cost the only passage.
        kept = min(_NAMING, budget // 10) if len(passages) > 1 else 0
        return answer(passages, room).characters <= budget - kept

    files: dict[tuple[str, str], list[str]] = {}
    chosen: list[GroundPassage] = []
    whole: list[GroundPassage] = []
    taken: list[tuple[_Candidate, frozenset[tuple[str, ...]]]] = []
    left: list[str] = []
    for candidate in candidates:
        key = (candidate.collection, candidate.source)
        if key not in files:
            files[key] = _lines(collections, *key)
        passage = _passage(candidate, files[key])
        if passage is None:
            continue
        marks = _shingles(passage.text)
        if any(_alike(candidate, marks, other, others) for other, others in taken):
            continue
        part = windows.best(passage, spellings, max(budget // (_SHARE if chosen else _FIRST_SHARE), _LEAST))
        if not fits([*chosen, part]):
            shorter = None if chosen else windows.shortened(part, lambda tried: fits([tried]))
            if shorter is None:
                left.append(passage.id)
                continue
            part = shorter
        chosen.append(part)
        whole.append(passage)
        taken.append((candidate, marks))
    for at, passage in enumerate(whole):
        if chosen[at] != passage and fits([*chosen[:at], passage, *chosen[at + 1 :]]):
            chosen[at] = passage
    named: list[str] = []
    for one in list(dict.fromkeys(left))[:_NAMED_AT_MOST]:
        if answer(chosen, len(left), [*named, one]).characters > budget:
            break
        named.append(one)
    return answer(chosen, len(left), named)


def _lines(collections: Mapping[str, Collection], name: str, source: str) -> list[str]:
    """The lines of a file, empty where it can't be read any more."""
    from kb.documents.read import read

    collection = collections.get(name)
    return [] if collection is None else read(collection.root, source).text.split("\n")


def _passage(candidate: _Candidate, lines: Sequence[str]) -> GroundPassage | None:
    first, last = candidate.lines
    last = min(last, len(lines))
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    if first > last:
        return None
    return GroundPassage(
        candidate.id, candidate.title, candidate.path, candidate.collection, candidate.source, (first, last),
        candidate.language, candidate.score, "\n".join(lines[first - 1 : last]),
    )  # fmt: skip


def _alike(one: _Candidate, marks: frozenset[tuple[str, ...]], other: _Candidate, others: frozenset[tuple[str, ...]]) -> bool:
    """Whether two passages overlap, are variants of one section in two languages, or say nearly the same."""
    if (one.collection, one.source) == (other.collection, other.source):
        if one.lines[0] <= other.lines[1] and other.lines[0] <= one.lines[1]:
            return True
    elif one.group == other.group:
        return True
    return len(marks & others) >= _SAME * min(len(marks), len(others))


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    """The runs of three words of a text, normalised; the whole text where it is shorter."""
    from kb.analysis import words

    found = [words.normalise(word) for word in words.find(text)]
    if len(found) <= _SHINGLE:
        return frozenset([tuple(found)])
    return frozenset(tuple(found[i : i + _SHINGLE]) for i in range(len(found) - _SHINGLE + 1))
