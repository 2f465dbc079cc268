"""Which texts of a base have vectors, and making those that are missing.

What is embedded: every passage (see `kb.embedding.texts`); of a section of several passages its lead, the first part of its
text, under `LEAD_OFFSET` plus the section's number; and of a file that could not be read as a document the beginning of its raw
text, under the negative of its document number. Apart from these, as questions: the names of documents whose front matter gives
aliases or questions, under their rows in the catalog.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kb.embedding.protocol import Embedder
from kb.embedding.texts import clean, keys_of, passage_text
from kb.errors import SemanticUnavailable
from kb.index import arrays, vectors
from kb.index.arrays import ArrayFile
from kb.index.catalog import Catalog
from kb.index.vectors import MISSING, Keys, VectorStore
from kb.reading.likeness import VectorsMade

BATCH = 8
"""Texts embedded between two writes: some seconds of work for the small model on two cores, all that a kill can cost."""
NAMES_A_TEXT = 8
"""Names that are embedded for one text of a batch: they are short."""
RAW_CHARACTERS = 4000
LEAD_CHARACTERS = 800
"""Of the first part of a section. On FPF dev, where sections are long, keywords with vectors of leads alone have an MRR@10 of .85
with 800 characters, .83 with 2,500, which a model of 512 tokens reads in windows: their mean is a little like everything."""
LEAD_OFFSET = 1 << 40
VERSION = 2
"""Of what is embedded; another means that kept lists of texts are made anew."""
_CHUNK = 400
_MARK = "\0"
"""Stands before a name in what its key is made of: as a question it has another vector than the same words as a passage."""

Progress = Callable[[int, int], None]
"""Called with (texts embedded, texts to embed)."""
ReadRaw = Callable[[str, str], str]
"""Returns the raw text of (collection, source), empty where there is none."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What a state of the catalog wants vectors for: numbers (of passages, leads, failed documents), ascending, and keys.

    `names`: rows of names in the catalog, ascending, and `name_keys`.
    """

    generation: int
    numbers: NDArray[np.int64]
    keys: Keys
    names: NDArray[np.int64]
    name_keys: Keys


@dataclass(frozen=True, slots=True)
class View:
    """The vectors of a model for one state of the catalog: the row of each number, or MISSING or NO_VECTOR.

    `name_rows`: the same of each name; empty where names are not looked at.
    """

    texts: Texts
    store: VectorStore
    rows: NDArray[np.int64]
    name_rows: NDArray[np.int64]

    @property
    def missing(self) -> int:
        """How many texts have no vector yet, names included."""
        return int(np.count_nonzero(self.rows == MISSING)) + self.missing_names

    @property
    def missing_names(self) -> int:
        """How many names have no vector yet."""
        return int(np.count_nonzero(self.name_rows == MISSING))

    @property
    def wanted(self) -> int:
        """How many texts should have a vector, names included."""
        return len(self.rows) + len(self.name_rows)

    def rows_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of passages, negative where they have none."""
        held = self.texts.numbers
        if not len(held):
            return np.full(len(numbers), MISSING, dtype=np.int64)
        at = np.minimum(held.searchsorted(numbers), len(held) - 1)
        return np.where(held[at] == numbers, self.rows[at], MISSING)

    def keys_of(self, numbers: NDArray[np.int64]) -> Keys:
        """Return the keys of texts that this state wants vectors for, by their numbers."""
        at = np.minimum(self.texts.numbers.searchsorted(numbers), max(len(self.texts.numbers) - 1, 0))
        found: Keys = self.texts.keys[at]
        return found


def texts(catalog: Catalog, read_raw: ReadRaw) -> Texts:
    """Return what the present state wants vectors for; kept in a file, for all of it has to be read."""
    generation = catalog.generation
    path = None if catalog.folder is None else catalog.folder / "vectors" / f"texts-{VERSION}-{generation}.arr"
    if path is not None:
        try:
            file = ArrayFile.open(path)
            return Texts(generation, file["number"], file["key"], file["name"], file["name_key"])
        except Exception:  # not there, or not whole: it can be made again
            pass
    numbers: list[int] = []
    keys: list[Keys] = []
    chunk: list[str] = []
    for number, text in _all(catalog, read_raw):
        numbers.append(number)
        chunk.append(text)
        if len(chunk) == _CHUNK:
            keys.append(keys_of(chunk))
            chunk.clear()
    keys.append(keys_of(chunk))
    ordered = np.argsort(np.asarray(numbers, dtype=np.int64), kind="stable")
    named = list(_names(catalog))
    found = Texts(
        generation, np.asarray(numbers, dtype=np.int64)[ordered], np.concatenate(keys)[ordered],
        np.array([row for row, _ in named], dtype=np.int64), keys_of(_MARK + name for _, name in named),
    )  # fmt: skip
    if path is not None and path.parent.is_dir():
        _keep(path, found)
    return found


def view(
    catalog: Catalog, model: str, dimension: int, read_raw: ReadRaw, held: View | None = None, *, names: bool = False
) -> View:
    """Return the vectors of a model for the present state; `held` is handed back where nothing has changed."""
    store = vectors.load(catalog, model, dimension)
    if held is not None and held.texts.generation == catalog.generation and held.store.model == model:
        if len(held.store.keys) == len(store.keys) and held.store.number == store.number:
            return held
        wanted = held.texts
    else:
        wanted = texts(catalog, read_raw)
    return _view(wanted, store, names)


def _view(wanted: Texts, store: VectorStore, names: bool) -> View:
    return View(wanted, store, store.rows_of(wanted.keys), store.rows_of(wanted.name_keys[: None if names else 0]))


def embed_missing(
    catalog: Catalog,
    embedder: Embedder,
    present: View,
    read_raw: ReadRaw,
    progress: Progress | None = None,
    size: int = BATCH,
) -> tuple[View, VectorsMade]:
    """Embed what has no vector yet, batch by batch; each batch is kept at once, so a run that is killed goes on where it was.

    `size`: texts of a batch. Raises SemanticUnavailable where the model gives something that is no vector; whatever the
    model itself raises passes.
    """
    started = time.monotonic()
    store, wanted = present.store, present.texts
    todo = _unmade(wanted.keys, present.rows)
    names = _unmade(wanted.name_keys, present.name_rows)
    total, done = len(todo) + len(names), 0
    # Windows of batches, longest texts first, so that texts of like length are embedded together. Each has its share of the
    # names, so that the pace is that of all.
    windows = max(-(-len(todo) // (8 * size)), -(-len(names) // (8 * size * NAMES_A_TEXT)))
    for number in range(windows):
        for which, numbers, keys, query in (
            (todo, wanted.numbers, wanted.keys, False),
            (names, wanted.names, wanted.name_keys, True),
        ):
            window = which[len(which) * number // windows : len(which) * (number + 1) // windows]
            chosen = numbers[window].tolist()
            found = _names_of(catalog, chosen) if query else _texts_of(catalog, chosen, read_raw)
            order = sorted(range(len(window)), key=lambda at: -len(found[at]))
            for part in vectors.batches(len(order), size * NAMES_A_TEXT if query else size):
                places = order[part]
                made = embed(embedder, [found[at] for at in places], query=query)
                store = vectors.append(catalog, store, keys[window[places]], made)
                done += len(places)
                if progress:
                    progress(done, total)
    store = vectors.rewrite(catalog, store, np.concatenate([wanted.keys, wanted.name_keys]))
    after = _view(wanted, store, bool(len(present.name_rows)))
    without = int(np.count_nonzero(after.rows == vectors.NO_VECTOR) + np.count_nonzero(after.name_rows == vectors.NO_VECTOR))
    return after, VectorsMade(embedder.id, total, present.wanted - total, without, time.monotonic() - started)


def _unmade(keys: Keys, rows: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the positions of texts without a vector, each text once."""
    todo = np.flatnonzero(rows == MISSING)
    _, first = np.unique(keys[todo], return_index=True)
    found: NDArray[np.intp] = todo[np.sort(first)]
    return found


def embed(embedder: Embedder, batch: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
    """Return the vectors of passages, or of questions; an empty text gives a row of NaN.

    SemanticUnavailable where the shape is wrong.
    """
    said = [at for at, text in enumerate(batch) if text.strip()]
    out = np.full((len(batch), embedder.dimension), np.nan, dtype=np.float32)
    if not said:
        return out
    given = [batch[at] for at in said]
    found = (embedder.embed_queries(given) if query else embedder.embed_passages(given)).dense
    if found.shape != (len(said), embedder.dimension):
        raise SemanticUnavailable(
            f"the model gave vectors of shape {found.shape} instead of {(len(said), embedder.dimension)}", "run: kb doctor"
        )
    if not np.isfinite(found).any():
        raise SemanticUnavailable("the model gave no finite number", "run: kb doctor")
    out[said] = found
    return out


def raw_reader(collections: Mapping[str, Path]) -> ReadRaw:
    """Return what reads the raw text of a document; `collections`: name -> root."""

    def read(collection: str, source: str) -> str:
        from kb.documents.read import content

        root = collections.get(collection)
        return "" if root is None else content(root, source)[0].decode("utf-8", "replace")

    return read


def _all(catalog: Catalog, read_raw: ReadRaw) -> Iterator[tuple[int, str]]:
    for document, collection, source in catalog.db.execute(
        "SELECT document, collection, source FROM documents WHERE error IS NOT NULL ORDER BY document"
    ).fetchall():
        yield -document, _raw(read_raw, collection, source)
    yield from _passages(catalog, "1", ())
    yield from _leads(catalog, "1", ())


def _passages(catalog: Catalog, condition: str, values: Sequence[int]) -> Iterable[tuple[int, str]]:
    for number, title, heading, text, source in catalog.db.execute(
        "SELECT p.passage, h.title, p.heading, p.text, d.source FROM passages p JOIN sections s ON s.section = p.section"
        " JOIN sections h ON h.section = s.hit JOIN documents d ON d.document = p.document"
        f" WHERE {condition} ORDER BY p.passage",
        values,
    ):
        yield number, passage_text(title, heading, text, source)


def _leads(catalog: Catalog, condition: str, values: Sequence[int]) -> Iterable[tuple[int, str]]:
    """Yield the lead of every section of several passages, under its number."""
    rows = catalog.db.execute(
        "SELECT h.section, h.title, d.source, p.heading, p.text FROM passages p JOIN sections s ON s.section = p.section"
        " JOIN sections h ON h.section = s.hit JOIN documents d ON d.document = p.document"
        f" WHERE {condition} ORDER BY h.section, p.passage",
        values,
    )
    for section, group in groupby(rows, key=lambda row: int(row[0])):
        held = list(group)
        if len(held) > 1:
            _, title, source, _, _ = held[0]
            parts = [part for _, _, _, heading, text in held for part in (heading if heading != title else "", text) if part]
            yield LEAD_OFFSET + section, passage_text(title, "", "\n".join(parts), source)[:LEAD_CHARACTERS]


def _names(catalog: Catalog) -> Iterable[tuple[int, str]]:
    """Yield the row and the text of every name in documents whose front matter gives aliases or questions.

    Titles stand among them: a section of such a document would else seem to have no name at all.
    """
    rows = catalog.db.execute(
        "SELECT n.rowid, n.document, n.name, s.title FROM names n JOIN sections s ON s.section = n.section ORDER BY n.rowid"
    ).fetchall()
    given = {document for _, document, name, title in rows if not name.endswith(title)}  # all others are made from titles
    return ((row, clean(name)) for row, document, name, _ in rows if document in given)


def _names_of(catalog: Catalog, rows: Sequence[int]) -> list[str]:
    found: dict[int, str] = {}
    for part in vectors.batches(len(rows), _CHUNK):
        chunk = rows[part]
        marks = ",".join("?" * len(chunk))
        found.update(catalog.db.execute(f"SELECT rowid, name FROM names WHERE rowid IN ({marks})", chunk).fetchall())
    return [clean(found.get(row, "")) for row in rows]


def _texts_of(catalog: Catalog, numbers: Sequence[int], read_raw: ReadRaw) -> list[str]:
    found: dict[int, str] = {}
    for part in vectors.batches(len(numbers), _CHUNK):
        for read, low, high in ((_passages, 1, LEAD_OFFSET), (_leads, LEAD_OFFSET, 2 * LEAD_OFFSET)):
            chunk = [number % LEAD_OFFSET for number in numbers[part] if low <= number < high]
            column = "p.passage" if read is _passages else "h.section"
            found.update(read(catalog, f"{column} IN ({','.join('?' * len(chunk))})", chunk) if chunk else ())
    for number in numbers:
        if number <= 0:
            row = catalog.db.execute("SELECT collection, source FROM documents WHERE document = ?", (-number,)).fetchone()
            found[number] = _raw(read_raw, *row) if row else ""
    return [found.get(number, "") for number in numbers]


def _raw(read_raw: ReadRaw, collection: str, source: str) -> str:
    return clean(read_raw(collection, source)[:RAW_CHARACTERS])


def _keep(path: Path, found: Texts) -> None:
    try:
        kept = {"number": found.numbers, "key": found.keys, "name": found.names, "name_key": found.name_keys}
        arrays.write(path, kept)
        for other in path.parent.glob("texts-*.arr"):
            if other != path:
                other.unlink(missing_ok=True)
    except OSError:  # a full or read-only cache: the next process reads the texts again
        return
