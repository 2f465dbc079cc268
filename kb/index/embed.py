"""Which texts of a base have vectors, and making those that are missing.

What is embedded: every passage (see `kb.embedding.texts`); of a section of several passages its lead, the first part of its
text, under `LEAD_OFFSET` plus the section's number; and of a file that could not be read as a document the beginning of its raw
text, under the negative of its document number.
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
RAW_CHARACTERS = 4000
LEAD_CHARACTERS = 2500
"""Of the first part of a section: on long sections (FPF dev) vectors of leads found more than those of first passages."""
LEAD_OFFSET = 1 << 40
VERSION = 1
"""Of what is embedded; another means that kept lists of texts are made anew."""
_CHUNK = 400

Progress = Callable[[int, int], None]
"""Called with (texts embedded, texts to embed)."""
ReadRaw = Callable[[str, str], str]
"""Returns the raw text of (collection, source), empty where there is none."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What a state of the catalog wants vectors for: numbers (of passages, leads, failed documents), ascending, and keys."""

    generation: int
    numbers: NDArray[np.int64]
    keys: Keys


@dataclass(frozen=True, slots=True)
class View:
    """The vectors of a model for one state of the catalog: the row of each number, or MISSING or NO_VECTOR."""

    texts: Texts
    store: VectorStore
    rows: NDArray[np.int64]

    @property
    def missing(self) -> int:
        """How many texts have no vector yet."""
        return int(np.count_nonzero(self.rows == MISSING))

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
            return Texts(generation, file["number"], file["key"])
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
    found = Texts(generation, np.asarray(numbers, dtype=np.int64)[ordered], np.concatenate(keys)[ordered])
    if path is not None and path.parent.is_dir():
        _keep(path, found)
    return found


def view(catalog: Catalog, model: str, dimension: int, read_raw: ReadRaw, held: View | None = None) -> View:
    """Return the vectors of a model for the present state; `held` is handed back where nothing has changed."""
    store = vectors.load(catalog, model, dimension)
    if held is not None and held.texts.generation == catalog.generation and held.store.model == model:
        if len(held.store.keys) == len(store.keys) and held.store.number == store.number:
            return held
        wanted = held.texts
    else:
        wanted = texts(catalog, read_raw)
    return View(wanted, store, store.rows_of(wanted.keys))


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
    todo = np.flatnonzero(present.rows == MISSING)
    _, first = np.unique(wanted.keys[todo], return_index=True)
    todo = todo[np.sort(first)]
    done = 0
    while done < len(todo):
        # A window of batches, longest texts first, so that texts of like length are embedded together.
        window = todo[done : done + 8 * size]
        found = _texts_of(catalog, wanted.numbers[window].tolist(), read_raw)
        order = sorted(range(len(window)), key=lambda at: -len(found[at]))
        for part in vectors.batches(len(order), size):
            places = order[part]
            batch = [found[at] for at in places]
            store = vectors.append(catalog, store, wanted.keys[window[places]], embed(embedder, batch))
            done += len(places)
            if progress:
                progress(done, len(todo))
    store = vectors.rewrite(catalog, store, wanted.keys)
    after = View(wanted, store, store.rows_of(wanted.keys))
    without = int(np.count_nonzero(after.rows == vectors.NO_VECTOR))
    return after, VectorsMade(embedder.id, len(todo), len(wanted.keys) - len(todo), without, time.monotonic() - started)


def embed(embedder: Embedder, batch: Sequence[str]) -> NDArray[np.float32]:
    """Return the vectors of passages; an empty text gives a row of NaN. SemanticUnavailable where the shape is wrong."""
    said = [at for at, text in enumerate(batch) if text.strip()]
    out = np.full((len(batch), embedder.dimension), np.nan, dtype=np.float32)
    if not said:
        return out
    found = embedder.embed_passages([batch[at] for at in said]).dense
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
        arrays.write(path, {"number": found.numbers, "key": found.keys})
        for other in path.parent.glob("texts-*.arr"):
            if other != path:
                other.unlink(missing_ok=True)
    except OSError:  # a full or read-only cache: the next process reads the texts again
        return
