"""The vectors of one index: for each model a matrix in a file, rows found by the content they were made of.

A row is keyed by the text that was embedded, so whatever moves, is renamed or comes back finds its vector again, and a
rebuild of the index embeds nothing twice. Rows are only ever added, under the catalog's write lock: first the vectors, synced,
then their keys; what counts is how many whole keys there are, so that a process killed half way leaves nothing wrong. Rows
whose text has gone stay until `rewrite` drops them, into files of the next number; readers keep what they have mapped.

Files, in `vectors/<model>/` beside the segments: `model.json`, `<n>.f32` (float32, rows x dimension), `<n>.keys` (uint64),
`<n>.none` (keys of texts that have no vector). All little-endian.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from kb.embedding.protocol import Matrix, usable
from kb.index.catalog import Catalog

Keys = NDArray[np.uint64]
MISSING = -1
NO_VECTOR = -2
BLOCK_ROWS = 8192
"""Rows that are compared at a time: 12 MB of 384 numbers, so that many queries at once need little memory."""
_DEAD_SHARE = 0.3
_NO_KEYS = np.zeros(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class VectorStore:
    """The vectors of one model as they stood when it was opened. `matrix` has shape (rows, dimension), rows of length 1."""

    model: str
    dimension: int
    matrix: Matrix
    keys: Keys
    none: Keys
    folder: Path | None = None
    number: int = 0
    _order: list[NDArray[np.int64]] = field(default_factory=list, repr=False, compare=False)

    def rows_of(self, keys: Keys) -> NDArray[np.int64]:
        """Return the row of each key: MISSING where there is none yet, NO_VECTOR where its text gives none."""
        out = np.full(len(keys), MISSING, dtype=np.int64)
        if len(self.none):
            out[np.isin(keys, self.none)] = NO_VECTOR
        if len(self.keys):
            if not self._order:
                self._order.append(np.argsort(self.keys, kind="stable"))
            order = self._order[0]
            at = np.minimum(self.keys.searchsorted(keys, sorter=order), len(order) - 1)
            found = self.keys[order[at]] == keys
            out[found] = order[at][found]
        return out


@dataclass(frozen=True, slots=True)
class Held:
    """What an index says of the vectors of one model."""

    model: str
    dimension: int
    rows: int
    bytes: int


_in_memory: WeakKeyDictionary[Catalog, dict[str, VectorStore]] = WeakKeyDictionary()


def load(catalog: Catalog, model: str, dimension: int) -> VectorStore:
    """Return the vectors of a model; without rows where there are none yet. ValueError where their dimension differs."""
    if catalog.folder is None:
        held = _in_memory.get(catalog, {}).get(model)
        return held or _empty(model, dimension, None)
    folder = _folder(catalog.folder, model)
    stated = _stated(folder)
    if stated is not None and stated.dimension != dimension:
        raise ValueError(f"the vectors of {model} have {stated.dimension} dimensions, the model gives {dimension}")
    while True:
        number = _latest(folder)
        if number is None:
            return _empty(model, dimension, folder)
        try:
            keys = _read_keys(folder / f"{number}.keys")
            none = _read_keys(folder / f"{number}.none", optional=True)
            return VectorStore(model, dimension, _map(folder / f"{number}.f32", len(keys), dimension), keys, none, folder, number)
        except FileNotFoundError:
            if _latest(folder) == number:  # not replaced meanwhile: half of it is gone
                return _empty(model, dimension, folder, number + 1)


def held(catalog: Catalog) -> list[Held]:
    """Return the models whose vectors an index holds, most rows first."""
    out = []
    if catalog.folder is None:
        stores = list(_in_memory.get(catalog, {}).values())
        out = [Held(s.model, s.dimension, len(s.keys), s.matrix.nbytes) for s in stores]
    elif (catalog.folder / "vectors").is_dir():
        for folder in sorted((catalog.folder / "vectors").iterdir()):
            stated = _stated(folder)
            number = _latest(folder) if stated else None
            if stated and number is not None:
                size = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
                rows = (folder / f"{number}.keys").stat().st_size // 8
                out.append(Held(stated.model, stated.dimension, rows, size))
    return sorted(out, key=lambda one: (-one.rows, one.model))


def append(catalog: Catalog, store: VectorStore, keys: Keys, vectors: Matrix) -> VectorStore:
    """Add vectors and return the store with them. Rows that are not finite, or zero, are noted as having no vector.

    Waits for another writer; IndexBusy where that takes too long.
    """
    if vectors.shape != (len(keys), store.dimension):
        raise ValueError(f"the model gave vectors of shape {vectors.shape}, not {(len(keys), store.dimension)}")
    with catalog.writing():
        now = load(catalog, store.model, store.dimension)
        new = now.rows_of(keys) == MISSING
        _, first = np.unique(keys, return_index=True)
        once = np.zeros(len(keys), dtype=bool)
        once[first] = True
        good = new & once & usable(vectors)
        bad = new & once & ~usable(vectors)
        added = np.ascontiguousarray(vectors[good], dtype="<f4")
        if now.folder is None:
            merged = VectorStore(
                now.model, now.dimension, np.concatenate([now.matrix, added]), np.concatenate([now.keys, keys[good]]),
                np.concatenate([now.none, keys[bad]]),
            )  # fmt: skip
            _in_memory.setdefault(catalog, {})[now.model] = merged
            return merged
        _create(now)
        stem = now.folder / str(now.number)
        _extend(stem.with_suffix(".f32"), len(now.keys) * now.dimension * 4, added.tobytes())
        _extend(stem.with_suffix(".keys"), len(now.keys) * 8, keys[good].astype("<u8").tobytes())
        if bad.any():
            _extend(stem.with_suffix(".none"), len(now.none) * 8, keys[bad].astype("<u8").tobytes())
    return load(catalog, store.model, store.dimension)


def rewrite(catalog: Catalog, store: VectorStore, live: Keys) -> VectorStore:
    """Drop the rows whose text is no longer part of the base, where they are a good part of all."""
    keep = np.isin(store.keys, live)
    if not len(store.keys) or np.count_nonzero(~keep) <= _DEAD_SHARE * len(store.keys):
        return store
    with catalog.writing():
        now = load(catalog, store.model, store.dimension)
        keep = np.isin(now.keys, live)
        kept = VectorStore(
            now.model, now.dimension, now.matrix[keep], now.keys[keep], now.none[np.isin(now.none, live)], now.folder,
            now.number + 1,
        )  # fmt: skip
        if now.folder is None:
            _in_memory.setdefault(catalog, {})[now.model] = kept
            return kept
        stem = now.folder / str(kept.number)
        _extend(stem.with_suffix(".f32"), 0, kept.matrix.astype("<f4").tobytes())
        _extend(stem.with_suffix(".none"), 0, kept.none.astype("<u8").tobytes())
        partial = stem.with_suffix(".part")
        _extend(partial, 0, kept.keys.astype("<u8").tobytes())
        partial.replace(stem.with_suffix(".keys"))  # from here on the new files count
        for suffix in (".keys", ".none", ".f32"):
            _remove(now.folder / f"{now.number}{suffix}")
    return load(catalog, store.model, store.dimension)


def best_cosines(matrix: Matrix, queries: Matrix) -> NDArray[np.float32]:
    """Return for every row its highest cosine with one of the queries (shape (n, dimension)); exact, block by block."""
    out = np.empty(len(matrix), dtype=np.float32)
    for start in range(0, len(matrix), BLOCK_ROWS):
        block = matrix[start : start + BLOCK_ROWS]
        if len(queries) == 1:
            np.dot(block, queries[0], out=out[start : start + len(block)])
        else:
            (block @ queries.T).max(axis=1, out=out[start : start + len(block)])
    return out


# -- files -------------------------------------------------------------------------------------------------------


def _folder(index: Path, model: str) -> Path:
    slug = re.sub(r"[^a-z0-9.]+", "-", model.lower()).strip("-.")[:48]
    return index / "vectors" / f"{slug}-{hashlib.blake2b(model.encode(), digest_size=4).hexdigest()}"


def _empty(model: str, dimension: int, folder: Path | None, number: int = 1) -> VectorStore:
    return VectorStore(model, dimension, np.zeros((0, dimension), np.float32), _NO_KEYS, _NO_KEYS, folder, number)


def _stated(folder: Path) -> Held | None:
    try:
        said: Mapping[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        return Held(str(said["model"]), int(said["dimension"]), 0, 0)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _create(store: VectorStore) -> None:
    assert store.folder is not None
    if _stated(store.folder) is not None:
        return
    store.folder.mkdir(parents=True, exist_ok=True)
    partial = store.folder / "model.part"
    partial.write_text(json.dumps({"model": store.model, "dimension": store.dimension}), encoding="utf-8")
    partial.replace(store.folder / "model.json")


def _latest(folder: Path) -> int | None:
    numbers = [int(path.stem) for path in folder.glob("*.keys") if path.stem.isdecimal()]
    return max(numbers, default=None)


def _read_keys(path: Path, optional: bool = False) -> Keys:
    try:
        blob = path.read_bytes()
    except FileNotFoundError:
        if optional:
            return _NO_KEYS
        raise
    return np.frombuffer(blob[: len(blob) // 8 * 8], dtype="<u8").astype(np.uint64)


def _map(path: Path, rows: int, dimension: int) -> Matrix:
    if rows == 0:
        return np.zeros((0, dimension), np.float32)
    if path.stat().st_size < rows * dimension * 4:
        raise FileNotFoundError(path)
    return np.memmap(path, dtype="<f4", mode="r", shape=(rows, dimension))


def _extend(path: Path, size: int, data: bytes) -> None:
    """Make a file hold `data` after its first `size` bytes, and nothing after that; synced."""
    with path.open("r+b" if path.exists() else "w+b") as file:
        file.truncate(size)
        file.seek(size)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:  # still mapped, on a system that minds: harmless
        return


def batches(count: int, size: int) -> Iterator[slice]:
    """Yield the slices that cut `count` things into batches."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))
