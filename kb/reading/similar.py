"""What resembles a section or a text: by embeddings, or by deterministic lexical vectors."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kb.embedding import lexical
from kb.embedding.protocol import Matrix
from kb.embedding.texts import passage_text
from kb.errors import ArgumentError
from kb.index import vectors
from kb.index.catalog import Catalog
from kb.index.embed import View
from kb.reading.likeness import Chunk, ChunksAnswer, SimilarAnswer, SimilarRow, VectorAnswer
from kb.reading.paths import breadcrumb
from kb.reading.section import FAILED, Found

MOST = 100
LONGEST_TEXT = 100_000
DIGITS = 6
"""Decimals of a score. `min_score` is compared after rounding to them, so that a copy's 0.99999994 is 1."""
MOST_SOURCE_PASSAGES = 32
"""Passages of a section that are compared with all others; of a longer one the first."""
DISCLAIMER = "Lexical vectors compare spellings, not meanings: a low score does not mean that two texts differ in subject."
_CLAUSE_FIELDS = ("scheme", "version", "clause", "summary", "source_url", "as_of", "disclaimer")


def check(top_k: object, min_score: object) -> None:
    """Raise ArgumentError where a list of similar sections can't be asked for so."""
    check_count("top_k", top_k, MOST)
    if min_score is not None and (
        isinstance(min_score, bool) or not isinstance(min_score, int | float) or min_score != min_score
    ):
        raise ArgumentError(f"min_score must be a number, got {min_score!r}")
    if isinstance(min_score, int | float) and not -1 <= min_score <= 1:
        raise ArgumentError(f"min_score must be from -1 to 1, got {min_score:g}")


def check_count(name: str, value: object, most: int | None) -> None:
    """Raise ArgumentError where a number of rows is no whole number, or out of range."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentError(f"{name} must be a whole number, got {value!r}")
    if value < 1 or (most is not None and value > most):
        raise ArgumentError(f"{name} must be {f'from 1 to {most}' if most else '1 or more'}, got {value}")


def check_text(text: object) -> str:
    """Return a text that can be compared; ArgumentError for an empty or overlong one."""
    if not isinstance(text, str) or not text.strip():
        raise ArgumentError("the text is empty; write what the sections should resemble")
    if len(text) > LONGEST_TEXT:
        raise ArgumentError(f"the text has {len(text)} characters; {LONGEST_TEXT} at most")
    return text


def check_vector(vector: Sequence[float]) -> Matrix:
    """Return a vector given by a caller, with length 1 and shape (1, n); ArgumentError where it is no vector."""
    if isinstance(vector, str) or any(isinstance(n, bool) or not isinstance(n, int | float) for n in vector):
        raise ArgumentError("a vector must be a list of numbers")
    made = np.asarray(vector, dtype=np.float64)
    length = float(np.sqrt(made @ made))
    if not np.isfinite(length) or length == 0:
        raise ArgumentError("the vector is empty, zero or not finite")
    return (made / length).astype(np.float32)[None, :]


def of_dimension(vector: Matrix, dimension: int) -> Matrix:
    """Return the vector; ArgumentError where the model's vectors have another number of dimensions."""
    if vector.shape[1] != dimension:
        raise ArgumentError(f"the vector has {vector.shape[1]} numbers; those of this base's model have {dimension}")
    return vector


# -- by embeddings -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A section (or a failed file, `id` None) that may be returned, in one language, with its score."""

    score: float
    section: int
    document: int
    collection: str
    id: str | None
    language: str | None


def related(
    catalog: Catalog,
    view: View,
    found: Found,
    *,
    top_k: int,
    min_score: float | None,
    types: Sequence[str],
) -> SimilarAnswer:
    """Return the sections whose best passages are nearest to those of one section; the section itself is left out."""
    queries = _source_vectors(catalog, view, found)
    if not len(queries):
        return SimilarAnswer(available=True)
    return _similar(catalog, view, queries, found, top_k, min_score, types)


def similar(
    catalog: Catalog, view: View, queries: Matrix, *, top_k: int, min_score: float | None, types: Sequence[str]
) -> SimilarAnswer:
    """Return the sections whose best passages are nearest to those of a text, given by its vectors."""
    return _similar(catalog, view, queries, None, top_k, min_score, types)


def passages_of(text: str) -> list[str]:
    """Return what is embedded for a text that is not part of the base: cut as a document would be.

    The copy of a section, heading included, so gets exactly that section's vectors.
    """
    from kb.documents.read import parse
    from kb.index.passages import cut

    name = "text.md"
    document = parse(name, text.encode("utf-8", "replace"))
    made = [
        passage_text(document.sections[hit.section].title, passage.heading, passage.text, name)
        for hit in cut(document, 6)
        for passage in hit.passages
    ]
    return [one for one in made if one.strip()][:MOST_SOURCE_PASSAGES] or [text]


def _source_vectors(catalog: Catalog, view: View, found: Found) -> Matrix:
    if found.document is None:
        return np.zeros((0, view.store.dimension), np.float32)
    if found.id is None:
        numbers = [-found.document]
    else:
        rows = catalog.db.execute(
            "SELECT passage FROM passages WHERE document = ? AND first >= ? AND last <= ? ORDER BY passage LIMIT ?",
            (found.document, found.first, found.last, MOST_SOURCE_PASSAGES),
        )
        numbers = [row[0] for row in rows]
    at = view.rows_of(np.asarray(numbers, dtype=np.int64))
    made: Matrix = view.store.matrix[at[at >= 0]]
    return made


def _similar(
    catalog: Catalog,
    view: View,
    queries: Matrix,
    source: Found | None,
    top_k: int,
    min_score: float | None,
    types: Sequence[str],
) -> SimilarAnswer:
    scores = vectors.best_cosines(view.store.matrix, queries)
    best: dict[tuple[str, str], _Candidate] = {}
    failed: list[_Candidate] = []
    for candidate in _candidates(catalog, view, scores, types):
        if source is not None and _is_source(catalog.db, candidate, source):
            continue
        if candidate.id is None:
            failed.append(candidate)
            continue
        key = (candidate.collection, candidate.id)
        # A model's cosines favour its own language: where both are there, the variant in the source's language counts.
        rank = (source is not None and candidate.language == source.language, candidate.score)
        held = best.get(key)
        if held is None or rank > (source is not None and held.language == source.language, held.score):
            best[key] = candidate
    ordered = sorted([*best.values(), *failed], key=lambda one: (-one.score, one.id or "", one.section))
    kept = [one for one in ordered if min_score is None or one.score >= round(min_score, DIGITS)]
    return SimilarAnswer(available=True, results=tuple(_row(catalog.db, one) for one in kept[:top_k]))


def _candidates(catalog: Catalog, view: View, scores: NDArray[np.float32], types: Sequence[str]) -> Iterable[_Candidate]:
    """Yield every hit that has a vector with its best passage's score, and every failed file with that of its raw text."""
    held = view.rows >= 0
    numbers, rows = view.texts.numbers[held], view.rows[held]
    score_of = dict(zip(numbers.tolist(), scores[rows].tolist(), strict=True))
    condition = f"d.type IN ({','.join('?' * len(types))})" if types else "1"
    best: dict[int, _Candidate] = {}
    for passage, hit, document, collection, id_, language in catalog.db.execute(
        "SELECT p.passage, h.section, h.document, h.collection, h.id, h.language FROM passages p"
        " JOIN sections s ON s.section = p.section JOIN sections h ON h.section = s.hit"
        f" JOIN documents d ON d.document = p.document WHERE {condition}",
        tuple(types),
    ):
        score = score_of.get(passage)
        if score is not None and (hit not in best or score > best[hit].score):
            best[hit] = _Candidate(score, hit, document, collection, id_, language)
    for one in best.values():
        yield replace(one, score=_rounded(one.score))
    for document, collection in catalog.db.execute(
        f"SELECT document, collection FROM documents d WHERE error IS NOT NULL AND {condition}", tuple(types)
    ):
        if -document in score_of:
            yield _Candidate(_rounded(score_of[-document]), 0, document, collection, None, None)


def _rounded(score: float) -> float:
    return round(min(max(score, -1.0), 1.0), DIGITS)


def _is_source(db: sqlite3.Connection, candidate: _Candidate, source: Found) -> bool:
    if source.id is None or candidate.id is None:
        return candidate.document == source.document and candidate.id == source.id
    if candidate.collection != source.collection:
        return False
    hit = db.execute(
        "SELECT h.id FROM sections s JOIN sections h ON h.section = s.hit WHERE s.section = ?", (source.section,)
    ).fetchone()
    return candidate.id in (source.id, hit[0] if hit else None)


def _row(db: sqlite3.Connection, one: _Candidate) -> SimilarRow:
    type_, status, source = db.execute(
        "SELECT type, status, source FROM documents WHERE document = ?", (one.document,)
    ).fetchone()
    if one.id is None:
        return SimilarRow(type_, None, FAILED, FAILED, FAILED, source, one.score, one.collection)
    title, parent = db.execute("SELECT title, parent FROM sections WHERE section = ?", (one.section,)).fetchone()
    path = breadcrumb(db, one.collection, one.id, title, parent, one.language)
    return SimilarRow(type_, one.id, title, status, path, source, one.score, one.collection)


def chunks(catalog: Catalog, view: View, query: Matrix, *, collection: str, limit: int) -> ChunksAnswer:
    """Return the passages of a collection that are nearest to a question, scores clipped at 0."""
    scores = vectors.best_cosines(view.store.matrix, query)
    held = view.rows >= 0
    score_of = dict(zip(view.texts.numbers[held].tolist(), scores[view.rows[held]].tolist(), strict=True))
    rows: list[tuple[float, str, int, str, str, str]] = []
    seen: dict[str, int] = {}
    for passage, source, first, last, title, text in catalog.db.execute(
        "SELECT p.passage, d.source, p.first, p.last, d.title, p.text FROM passages p JOIN documents d USING (document)"
        " WHERE d.collection = ? ORDER BY p.passage",
        (collection,),
    ):
        name = f"{source}:{first}-{last}"
        # Pieces of one long line share its number.
        seen[name] = seen.get(name, 0) + 1
        if passage in score_of:
            chunk = name if seen[name] == 1 else f"{name}.{seen[name]}"
            rows.append((max(_rounded(score_of[passage]), 0.0), source, first, chunk, title, text))
    rows.sort(key=lambda row: (-row[0], row[1], row[2], row[3]))
    return ChunksAnswer(
        available=True,
        results=tuple(Chunk(chunk, title, text, score) for score, _, _, chunk, title, text in rows[:limit]),
    )


# -- by lexical vectors ------------------------------------------------------------------------------------------


def lexical_query(query: str) -> list[int]:
    """Return the counts of a query; ArgumentError where it holds no word."""
    found = lexical.counts(query)
    if not any(found):
        raise ArgumentError("the query holds no word; write at least one letter, digit or pictograph")
    return found


def vector(
    catalog: Catalog,
    view: View,
    query: str,
    counts: Sequence[int],
    *,
    top_k: int,
    collections: Sequence[str],
    types: Sequence[str],
) -> VectorAnswer:
    """Return the sections whose best passages are nearest to a query by lexical vectors; ties by id."""
    scores = lexical.cosines(view.store.matrix, counts)
    held = view.rows >= 0
    score_of = dict(zip(view.texts.numbers[held].tolist(), scores[view.rows[held]].tolist(), strict=True))
    best: dict[tuple[str, str], tuple[float, int]] = {}
    for passage, hit, collection, id_, type_ in catalog.db.execute(
        "SELECT p.passage, h.section, h.collection, h.id, d.type FROM passages p JOIN sections s ON s.section = p.section"
        " JOIN sections h ON h.section = s.hit JOIN documents d ON d.document = p.document ORDER BY p.passage"
    ):
        if (collections and collection not in collections) or (types and type_ not in types):
            continue
        score = score_of.get(passage, 0.0)
        if (collection, id_) not in best or score > best[collection, id_][0]:
            best[collection, id_] = (score, hit)
    ordered = sorted(best.items(), key=lambda item: (-item[1][0], item[0]))[:top_k]
    rows = tuple(_vector_row(catalog.db, hit, score) for _, (score, hit) in ordered)
    return VectorAnswer(query, top_k, lexical.METHOD, rows, DISCLAIMER)


def _vector_row(db: sqlite3.Connection, section: int, score: float) -> Mapping[str, object]:
    id_, title, collection, language, parent, type_, status, source, front = db.execute(
        "SELECT s.id, s.title, s.collection, s.language, s.parent, d.type, d.status, d.source, d.front FROM sections s"
        " JOIN documents d USING (document) WHERE section = ?",
        (section,),
    ).fetchone()
    held = json.loads(front)
    own = {name: held[name] for name in _CLAUSE_FIELDS if name in held}
    return {
        "type": type_,
        "id": id_,
        "title": title,
        "status": status,
        "path": breadcrumb(db, collection, id_, title, parent, language),
        "source": source,
        "score": round(score, DIGITS),
        **own,
    }
