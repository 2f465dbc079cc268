"""The whole search of KnowledgeBase on 100,000 sections, and what one would write oneself: tantivy, and SQLite for the texts."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench_data as data
import bench_engines as engines
from bench_timing import clock, in_turn, spread

from kb.base import KnowledgeBase, ranking_weights
from kb.ranking.plan import plan
from kb.ranking.query import parse
from kb.ranking.search import Filters, named_sections, ranked

EDITS = 1000
FILES = (100, 1000)
"""In how many files the 100,000 sections of the whole search lie."""
EDITED = "edited"
BARE = "plain BM25 of the same terms"


def measure(text: Path, work: Path, tokens: engines.Tokens) -> dict[str, Any]:
    """Return what whole searches take; `text`: the folder of real text, `work`: where what is built is kept."""
    texts = tokens.texts_of_queries()
    source = data.read(text)
    out: dict[str, Any] = {"sections": 100_000, "files": {}}
    for files in FILES:
        docs = work / f"docs-100k-{files}"
        if not docs.exists():
            data.write_folder(source, 100_000, docs, a_file=100_000 // files)
        shutil.rmtree(docs / EDITED, ignore_errors=True)
        with KnowledgeBase(docs) as kb:
            kb.index(rebuild=True)
            peers = Peers(kb, work / f"{docs.name}-tantivy", work / f"{docs.name}.db")
            found = out["files"][str(files)] = {kind: _search(kb, asked, peers) for kind, asked in texts.items()}
            if files == FILES[0]:
                out["edits"] = _edits(kb, docs, tokens)
                found.update((f"{kind} after edits", _search(kb, asked, None)) for kind, asked in texts.items())
    return out


def _search(kb: KnowledgeBase, texts: list[str], peers: Peers | None) -> dict[str, Any]:
    kb.search(texts[0])
    catalog = kb._catalog()
    with catalog.reading():
        snapshot = kb._state(catalog)
    plans = [plan(parse(text), snapshot, kb._words) for text in texts]
    used = ranking_weights(kb.config.search)

    def keyword(text: str) -> Any:
        query = parse(text)
        named = named_sections(catalog, query)
        return ranked(catalog, snapshot, query, plan(query, snapshot, kb._words), 5, Filters(), named, used, analyzer=kb._words)

    asks: dict[str, Callable[[int], Any]] = {
        BARE: lambda query: engines.lexical(snapshot, plans[query].terms, 5),
        "keyword mode: plan, all fields, grouping": lambda query: keyword(texts[query]),
        "KnowledgeBase.search": lambda query: kb.search(texts[query]),
    }
    if peers is not None:
        asked = [peers.prepare([term for term, _ in made.terms]) for made in plans]
        asks["tantivy + SQLite"] = lambda query: peers.ask(asked[query])
    return in_turn(asks, dict.fromkeys(asks, len(texts)))


def _edits(kb: KnowledgeBase, docs: Path, tokens: engines.Tokens) -> dict[str, float]:
    """A thousand edits, one file at a time, each indexed at once: new files, changed ones, deleted ones."""
    chance = random.Random(data.SEED)
    folder = docs / EDITED
    folder.mkdir(exist_ok=True)
    words = [word for word in tokens.vocabulary if word.isalpha()]
    times, present = [], []
    for number in range(EDITS):
        kind = "new" if len(present) < 50 else chance.choice(["new", "new", "change", "change", "delete"])
        name = f"{number}.md" if kind == "new" else chance.choice(present)
        if kind == "delete":
            (folder / name).unlink()
            present.remove(name)
        else:
            text = " ".join(chance.choices(words, k=100))
            (folder / name).write_text(f"# Note {number}\n\n{text}\n", encoding="utf-8")
            present.append(name) if kind == "new" else None
        started = clock()
        kb.index()
        times.append(clock() - started)
    return {**spread(times), "count": float(EDITS), "segments": float(kb.status().segments)}


class Peers:
    """tantivy over the passages of a base, and SQLite with their texts: what one would write oneself."""

    def __init__(self, kb: KnowledgeBase, folder: Path, texts: Path) -> None:
        import tantivy

        from kb.ranking import oracle

        catalog = kb._catalog()
        with catalog.reading():
            snapshot = kb._state(catalog)
            numbers = [int(n) for segment in snapshot.segments for n in segment.unit_passage]
        held = oracle.documents(snapshot, "text")
        self._schema = engines.Tantivy.schema()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        index = tantivy.Index(self._schema, path=str(folder))
        writer = index.writer(heap_size=512_000_000, num_threads=1)
        for number, terms in zip(numbers, held, strict=True):
            if number >= 0:
                writer.add_document(tantivy.Document(n=number, body=" ".join(self._word(term) for term in terms)))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()
        texts.unlink(missing_ok=True)
        self._db = sqlite3.connect(texts)
        self._db.execute("CREATE TABLE passages (passage INTEGER PRIMARY KEY, text TEXT)")
        self._db.executemany("INSERT INTO passages VALUES (?, ?)", catalog.db.execute("SELECT passage, text FROM passages"))
        self._db.commit()

    @staticmethod
    def _word(term: str) -> str:
        return term.replace(" ", "_") or "_"

    def prepare(self, terms: list[str]) -> Any:
        """Return a query object: any of the terms."""
        import tantivy

        found = [tantivy.Query.term_query(self._schema, "body", self._word(term)) for term in terms]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in found])

    def ask(self, query: Any) -> list[str]:
        """Return the texts of the best five."""
        hits = self._searcher.search(query, 5).hits
        numbers = [self._searcher.doc(address)["n"][0] for _, address in hits]
        return [self._db.execute("SELECT text FROM passages WHERE passage = ?", (n,)).fetchone()[0][:240] for n in numbers]
