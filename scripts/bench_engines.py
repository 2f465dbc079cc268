"""The engines that are compared: each builds from the same ready tokens, loads what it built, and answers top 10."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kb.index import bulk
from kb.index.catalog import Catalog, SegmentRow
from kb.index.segment import NOTHING_DEAD
from kb.index.snapshot import Snapshot, load
from kb.ranking import bm25, maxscore

TOP = 10
K1, B = 1.2, 0.75
PARAMETERS = bm25.Parameters(K1, B)
Hits = list[tuple[int, float]]
Ask = Callable[[Any], Hits]


class Tokens:
    """Ready tokens of one size: `terms` of all passages one after the other, `lengths` of each, the `vocabulary`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.terms: NDArray[np.int32] = np.memmap(folder / "terms.i32", dtype=np.int32, mode="r")
        self.lengths: NDArray[np.int32] = np.fromfile(folder / "lengths.i32", dtype=np.int32)
        self.vocabulary: list[str] = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))

    def queries(self) -> dict[str, list[list[int]]]:
        """Return the queries of each kind, as positions in the vocabulary."""
        found: dict[str, list[list[int]]] = json.loads((self.folder / "queries.json").read_text(encoding="utf-8"))
        return found

    def texts_of_queries(self) -> dict[str, list[str]]:
        """Return the queries of each kind as a user would type them."""
        found: dict[str, list[str]] = json.loads((self.folder / "texts.json").read_text(encoding="utf-8"))
        return found

    def documents(self) -> Iterator[list[int]]:
        """Yield the tokens of each passage; equal numbers are one object, as a program that reads text would have it."""
        shared = list(range(len(self.vocabulary)))
        start = 0
        for length in self.lengths.tolist():
            yield [shared[term] for term in self.terms[start : start + length].tolist()]
            start += length

    def texts(self) -> Iterator[str]:
        """Yield each passage as its tokens with spaces between them; the tokens of all engines are words of one kind."""
        names = [self.word(term) for term in range(len(self.vocabulary))]
        for document in self.documents():
            yield " ".join([names[term] for term in document])

    def word(self, term: int) -> str:
        """Return a word of letters and digits for a term, so that no engine cuts it in its own way."""
        return f"t{term}"


class Engine(Protocol):
    """An engine: `name`, `most` passages it is asked to bear, and what it does."""

    name: str
    most: int

    def build(self, tokens: Tokens, folder: Path) -> Callable[[], None]:
        """Take the tokens in the engine's own form, and return the function that builds and writes, which is timed."""

    def load(self, folder: Path) -> Any:
        """Open what was built."""

    def ask(self, opened: Any) -> Ask:
        """Return the function that answers a prepared query with (passage, score), best first."""

    def prepare(self, tokens: Tokens, query: Sequence[int]) -> Any:
        """Return a query in the engine's own form."""


class Kb:
    """kb: the segment file, the catalog, the snapshot and the scoring that KnowledgeBase.search uses."""

    name, most = "kb", 10**9

    def build(self, tokens: Tokens, folder: Path) -> Callable[[], None]:
        """Take the tokens as arrays."""

        def run() -> None:
            write_index(folder, tokens, ("en",))

        return run

    def load(self, folder: Path) -> Snapshot:
        """Open the catalog's present state, as `KnowledgeBase` does for a search."""
        catalog = Catalog.open(folder)
        with catalog.reading():
            snapshot = load(catalog)
        catalog.close()
        return snapshot

    def ask(self, opened: Snapshot) -> Ask:
        """Answer from the postings of field `text`."""
        return lambda terms: lexical(opened, terms)

    def prepare(self, tokens: Tokens, query: Sequence[int]) -> list[tuple[str, float]]:
        """Return terms with their weights."""
        return [(tokens.vocabulary[term], 1.0) for term in query]


def write_index(folder: Path, tokens: Tokens, languages: tuple[str, ...]) -> None:
    """Write one segment file and the catalog that names it."""
    (folder / "segments").mkdir(parents=True, exist_ok=True)
    catalog = Catalog.open(folder)
    lengths = bulk.write(folder / "segments" / "1.seg", tokens.vocabulary, [bulk.Tokens(tokens.terms, tokens.lengths)])
    with catalog.writing():
        catalog.set("languages", json.dumps(languages))
        catalog.set("generation", "1")
        row = SegmentRow(1, "1.seg", languages, len(lengths), int(lengths.sum()), 0, 0, len(lengths), NOTHING_DEAD)
        catalog.put_segment(row)
    catalog.close()


def lexical(snapshot: Snapshot, terms: Sequence[tuple[str, float]], top: int = TOP) -> Hits:
    """Return the best units of field `text` over all segments: a search without grouping, names and snippets."""
    weighted = bm25.weigh(snapshot, "text", terms)
    found: Hits = []
    base = 0
    for segment in snapshot.segments:
        floor = sorted(score for _, score in found)[-top] if len(found) >= top else 0.0
        units, scores = maxscore.best_units(segment, "text", weighted, snapshot.text.mean, PARAMETERS, top, floor)
        found.extend(zip((units + base).tolist(), scores.tolist(), strict=True))
        base += len(segment.text.lengths)
    found.sort(key=lambda hit: (-hit[1], hit[0]))
    return found[:top]


class Bm25s:
    """bm25s with one of its two backends, which share an index."""

    most = 10**9

    def __init__(self, backend: str) -> None:
        self.name = f"bm25s-{backend}"
        self._backend = backend

    def build(self, tokens: Tokens, folder: Path) -> Callable[[], None]:
        """Take the tokens as lists of numbers, its own form of ready tokens."""
        import bm25s

        corpus = bm25s.tokenization.Tokenized(ids=list(tokens.documents()), vocab={w: n for n, w in enumerate(tokens.vocabulary)})

        def run() -> None:
            engine = bm25s.BM25(method="lucene", k1=K1, b=B)
            engine.index(corpus, show_progress=False)
            engine.save(str(folder), show_progress=False)

        return run

    def load(self, folder: Path) -> Any:
        """Load the index into memory."""
        import bm25s

        engine = bm25s.BM25.load(str(folder))
        engine.backend = self._backend
        return engine

    def ask(self, opened: Any) -> Ask:
        """Answer through `retrieve`, on one thread."""

        def run(query: Any) -> Hits:
            found, scores = opened.retrieve(query, k=TOP, show_progress=False, n_threads=1, sorted=True)
            return [*zip(found[0].tolist(), (scores[0] * (K1 + 1)).tolist(), strict=True)]

        return run

    def prepare(self, tokens: Tokens, query: Sequence[int]) -> Any:
        """Return the query as token numbers."""
        return [[*query]]


class Tantivy:
    """tantivy, on disk, one field cut at spaces."""

    name, most = "tantivy", 10**9

    @staticmethod
    def schema() -> Any:
        """Return its schema: one stored number, one field of text with frequencies."""
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("n", stored=True)
        builder.add_text_field("body", stored=False, tokenizer_name="whitespace", index_option="freq")
        return builder.build()

    def build(self, tokens: Tokens, folder: Path) -> Callable[[], None]:
        """Take the tokens as strings with spaces between them."""
        import tantivy

        texts = list(tokens.texts())

        def run() -> None:
            folder.mkdir(parents=True, exist_ok=True)
            index = tantivy.Index(self.schema(), path=str(folder))
            writer = index.writer(heap_size=512_000_000, num_threads=1)
            for number, text in enumerate(texts):
                writer.add_document(tantivy.Document(n=number, body=text))
            writer.commit()
            writer.wait_merging_threads()

        return run

    def load(self, folder: Path) -> Any:
        """Open the index."""
        import tantivy

        index = tantivy.Index.open(str(folder))
        return index, index.searcher()

    def ask(self, opened: Any) -> Ask:
        """Answer with a ready query object; the stored number of each hit is read, since a user needs it."""
        _, searcher = opened

        def run(query: Any) -> Hits:
            found = searcher.search(query, TOP, count=False).hits
            return [(searcher.doc(address)["n"][0], score) for score, address in found]

        return run

    def prepare(self, tokens: Tokens, query: Sequence[int]) -> Any:
        """Return a query object: any of the terms."""
        import tantivy

        schema = self.schema()
        terms = [tantivy.Query.term_query(schema, "body", tokens.word(term)) for term in query]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])


class Fts5:
    """SQLite FTS5 without stored text."""

    name, most = "SQLite FTS5", 10**9

    def build(self, tokens: Tokens, folder: Path) -> Callable[[], None]:
        """Take the tokens as strings with spaces between them."""
        texts = list(tokens.texts())

        def run() -> None:
            folder.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(folder / "fts.db")
            db.execute("CREATE VIRTUAL TABLE f USING fts5(body, content='', detail='full', tokenize='ascii')")
            db.executemany("INSERT INTO f(rowid, body) VALUES (?, ?)", enumerate(texts, 1))
            db.execute("INSERT INTO f(f) VALUES ('optimize')")
            db.commit()
            db.close()

        return run

    def load(self, folder: Path) -> Any:
        """Open the database."""
        return sqlite3.connect(folder / "fts.db")

    def ask(self, opened: Any) -> Ask:
        """Answer with its own bm25."""

        def run(query: Any) -> Hits:
            rows = opened.execute("SELECT rowid, rank FROM f WHERE f MATCH ? ORDER BY rank LIMIT ?", (query, TOP)).fetchall()
            return [(number - 1, -score) for number, score in rows]

        return run

    def prepare(self, tokens: Tokens, query: Sequence[int]) -> str:
        """Return the terms joined with OR."""
        return " OR ".join(tokens.word(term) for term in query)


class RankBm25:
    """rank_bm25, in memory only."""

    name, most = "rank_bm25", 100_000

    def build(self, tokens: Tokens, folder: Path) -> Callable[[], None]:
        """Take the tokens as lists of numbers."""
        corpus = list(tokens.documents())

        def run() -> None:
            import pickle

            from rank_bm25 import BM25Okapi

            folder.mkdir(parents=True, exist_ok=True)
            with (folder / "rank.pickle").open("wb") as file:
                pickle.dump(BM25Okapi(corpus, k1=K1, b=B), file, protocol=pickle.HIGHEST_PROTOCOL)

        return run

    def load(self, folder: Path) -> Any:
        """Load the pickled object."""
        import pickle

        return pickle.loads((folder / "rank.pickle").read_bytes())

    def ask(self, opened: Any) -> Ask:
        """Answer with all scores and a sort, as its own `get_top_n` does."""

        def run(query: Any) -> Hits:
            scores = opened.get_scores(query)
            best = np.argsort(scores)[::-1][:TOP]
            return [*zip(best.tolist(), scores[best].tolist(), strict=True)]

        return run

    def prepare(self, tokens: Tokens, query: Sequence[int]) -> list[int]:
        """Return the query as token numbers."""
        return [*query]


ENGINES: tuple[Engine, ...] = (Kb(), Bm25s("numba"), Tantivy(), Bm25s("numpy"), Fts5(), RankBm25())
SHARED_INDEX = {"bm25s-numpy": "bm25s-numba"}
"""Engines that are served from what another has built."""
