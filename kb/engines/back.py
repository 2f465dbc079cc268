"""Vectors back from an engine into the index of this machine: nothing is embedded again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kb.index import embed, vectors
from kb.index.catalog import Catalog

if TYPE_CHECKING:
    from kb.engines.engine import Engine
    from kb.index.embed import ReadRaw


def take(catalog: Catalog, engine: Engine, read_raw: ReadRaw) -> int:
    """Take the vectors behind the engine's alias for texts that have none here; return how many.

    A vector is known by the text it was made of, so it fits wherever that text stands now. Call it outside of any
    transaction; IndexBusy where another process writes.
    """
    count, after = 0, None
    while True:
        found, after = engine.store.scroll(engine.alias, after)
        by_model: dict[str, list[tuple[int, np.ndarray]]] = {}
        for one in found:
            if "model" in one.payload and "vector_key" in one.payload:
                row = (int(one.payload["vector_key"], 16), np.asarray(one.vector, dtype=np.float32))
                by_model.setdefault(str(one.payload["model"]), []).append(row)
        for model, rows in by_model.items():
            present = embed.view(catalog, model, len(rows[0][1]), read_raw)
            wanted = set(present.texts.keys[present.rows == vectors.MISSING].tolist())
            kept = {key: vector for key, vector in rows if key in wanted}
            if kept:
                vectors.append(catalog, present.store, np.fromiter(kept, np.uint64, len(kept)), np.stack(list(kept.values())))
                count += len(kept)
        if after is None:
            return count
