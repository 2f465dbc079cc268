"""The engine of a base: what `KnowledgeBase` asks where kb.toml names one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kb.config import Config, EngineSettings
from kb.engines import state
from kb.engines.candidates import FIRST, CandidateRanker
from kb.engines.fill import Filler, Progress, expected
from kb.engines.state import Filled
from kb.engines.store import DENSE, Ask, Store
from kb.errors import ArgumentError, EngineUnusable, IndexBusy
from kb.index.catalog import Catalog
from kb.index.snapshot import Snapshot
from kb.ranking.ranker import Weights

if TYPE_CHECKING:
    from kb.embedding.protocol import Matrix
    from kb.index.embed import View
    from kb.ranking.dense import Dense
    from kb.reading.likeness import ChunksAnswer

KEY = "KB_QDRANT_KEY"
WRITTEN_AT_SEARCH = 20
"""Documents that a search brings to the engine itself; more is for `kb index`."""
DIGITS = 6
_TIED = 16
_INDEX = "run: kb index"


class Engine:
    """Candidates for the rankings of one base, from a store; safe to share between threads."""

    def __init__(self, store: Store, alias: str, *, first: int = FIRST) -> None:
        self.store = store
        self.alias = alias
        self._first = first

    def close(self) -> None:
        """Let go of connections."""
        self.store.close()

    def fill(
        self,
        catalog: Catalog,
        snapshot: Callable[[], Snapshot],
        weights: Weights,
        view: View | None = None,
        progress: Progress | None = None,
        *,
        wait: float = 30.0,
    ) -> int:
        """Bring the engine to what the catalog holds; return how many documents were written."""
        return Filler(self.store, self.alias, catalog, snapshot, weights, view, progress).fill(wait=wait)

    def prepare(
        self,
        catalog: Catalog,
        snapshot: Callable[[], Snapshot],
        weights: Weights,
        view: Callable[[], View | None] | None = None,
    ) -> None:
        """Write what little has changed since the last time. Call it outside of any transaction.

        `view`: what returns the vectors of the present state, None where some are missing; asked only if something is to do.
        """
        if catalog.folder is None or not state.made(catalog) or state.current(catalog) is None:
            return
        kinds = (state.PUT, state.GONE) if view is None else (state.PUT, state.GONE, state.VECTORS)
        behind = state.behind(catalog, *kinds)
        if 0 < behind <= WRITTEN_AT_SEARCH:
            held = view() if view is not None else None
            if held is None and not state.behind(catalog, state.PUT, state.GONE):
                return
            try:
                Filler(self.store, self.alias, catalog, snapshot, weights, held).follow()
            except IndexBusy:  # whoever writes there now writes this too
                return

    def nearest(self, catalog: Catalog, vector: Matrix, collection: str, limit: int) -> ChunksAnswer | None:
        """Return the passages of a collection nearest to a vector (shape (1, n)), None where the engine can't say.

        ArgumentError where the vectors it holds have another number of dimensions. Call it inside `catalog.reading()`.
        """
        from kb.engines.nearest import EXACT_PASSAGES
        from kb.reading.likeness import Chunk, ChunksAnswer

        held = state.current(catalog) if catalog.folder is not None and state.made(catalog) else None
        dimension = held.settings["dimension"] if held is not None else None
        if held is None or dimension is None or state.behind(catalog, state.PUT, state.GONE, state.VECTORS):
            return None
        if vector.shape[1] != dimension:
            raise ArgumentError(f"the vector has {vector.shape[1]} numbers; those of this base have {dimension}")
        passages = int(catalog.db.execute("SELECT count(*) FROM passages").fetchone()[0])
        asked = Ask(
            DENSE, vector[0], limit + _TIED, {"collection": [collection], "kind": ["passage"]},
            ("chunk_id", "document_title", "content", "source", "lines"), exact=passages <= EXACT_PASSAGES,
        )  # fmt: skip
        answers = self.store.ask(held.collection, [asked])
        if answers is None:
            return None
        rows = [(max(round(min(one.score, 1.0), DIGITS), 0.0), one.payload) for one in answers[0]]
        rows.sort(key=lambda row: (-row[0], row[1]["source"], row[1]["lines"][0], row[1]["chunk_id"]))
        return ChunksAnswer(
            available=True,
            results=tuple(Chunk(p["chunk_id"], p["document_title"], p["content"], score) for score, p in rows[:limit]),
        )

    def model(self, catalog: Catalog) -> tuple[str, int] | None:
        """Return the model and dimension of the vectors that the engine holds."""
        held = state.current(catalog) if catalog.folder is not None and state.made(catalog) else None
        if held is None or held.settings["model"] is None:
            return None
        return str(held.settings["model"]), int(held.settings["dimension"])

    def status(self, catalog: Catalog, snapshot: Callable[[], Snapshot]) -> dict[str, Any]:
        """Return what the engine holds and how far it is behind; `error` where it does not answer."""
        out: dict[str, Any] = {"kind": "qdrant", "alias": self.alias}
        known = catalog.folder is not None and state.made(catalog)
        filled = state.current(catalog) if known else None
        out["behind"] = state.behind(catalog, state.PUT, state.GONE) if filled is not None else None
        out["without_vectors"] = state.behind(catalog, state.VECTORS) if filled is not None else None
        try:
            out["version"] = self.store.version()
            held = self.store.held(filled.collection) if filled is not None else None
            out["points"] = held.points if held is not None else 0
            out["missing"] = expected(snapshot()) - out["points"] if out["behind"] == 0 else None
            out["shards"] = held.shards if held is not None else 0
            out["state"] = held.status if held is not None else "not filled"
            if filled is not None:
                out["dimension"] = filled.settings["dimension"]
        except EngineUnusable as error:
            out["error"] = str(error)
        return out

    def search(self, catalog: Catalog, weights: Weights, match: dict[str, Sequence[str]]) -> Search:
        """Return what ranks a query in the state of the catalog that is being read."""
        return Search(self, catalog, weights, match, self._first)


class Search:
    """One search: ranks with the engine where that holds just what the catalog does, else without it; `warning` says so."""

    def __init__(self, engine: Engine, catalog: Catalog, weights: Weights, match: dict[str, Sequence[str]], first: int) -> None:
        self.warning: str | None = None
        self._engine = engine
        self._match = match
        self._first = first
        self._filled = self._whole(catalog)

    def ranker(self) -> Callable[..., Any]:
        """Return what ranks as `kb.ranking.ranker.rank` does."""
        from kb.ranking.ranker import rank

        held = self._filled
        if held is None:
            return rank
        from kb.ranking.bm25 import Parameters

        parameters = (Parameters(*held.settings["text"]), Parameters(*held.settings["head"]))
        return CandidateRanker(
            self._engine.store, held.collection, held.means, parameters, self._matched(), self._gone, self._lacking, self._first
        )

    def comparing(self, catalog: Catalog, dense: Dense) -> dict[str, Any]:
        """Return, as an argument of `search_semantic`, what compares with the engine's vectors; nothing where it lacks some."""
        compare = self._comparer(catalog, dense.view(catalog))
        return {} if compare is None else {"compare": compare}

    def _comparer(self, catalog: Catalog, view: View) -> Callable[..., Any] | None:
        held = self._filled
        if held is None:  # said already
            return None
        model = view.store.model
        if (held.settings["model"], held.settings["dimension"]) != (model, view.store.dimension):
            self._without(f"Qdrant holds no vectors of {model}")
            return None
        behind = state.behind(catalog, state.VECTORS)
        if behind:
            self._without(f"Qdrant lacks the vectors of {behind} documents")
            return None
        from kb.engines.nearest import NearestHits

        return NearestHits(self._engine.store, held.collection, self._matched(), self._gone, self._lacking, self._first)

    def _matched(self) -> dict[str, Sequence[str | int]]:
        return {key: list(values) for key, values in self._match.items()}

    def _whole(self, catalog: Catalog) -> Filled | None:
        held = state.current(catalog) if catalog.folder is not None and state.made(catalog) else None
        if held is None:
            self._without("Qdrant has not been filled yet")
            return None
        behind = state.behind(catalog, state.PUT, state.GONE)
        if behind:
            self._without(f"Qdrant lacks {behind} changed documents")
            return None
        return held

    def _gone(self) -> None:
        self._without("Qdrant does not hold this base any more")

    def _lacking(self) -> None:
        self._without("Qdrant lacks points of this base")

    def _without(self, why: str) -> None:
        self.warning = f"{why}: answered from the local index; {_INDEX}"


def open_engine(config: Config, key: str) -> Engine | None:
    """Return the engine that a base names, None for the embedded one. Nothing is sent yet. `key` tells the base from others."""
    settings: EngineSettings = config.engine
    if settings.kind == "embedded":
        return None
    from kb.engines.client import connect

    return Engine(connect(settings.url, os.environ.get(KEY) or None), alias_of(settings.prefix, key))


def alias_of(prefix: str, key: str) -> str:
    """Return the name by which other programs find the points of a base: letters, digits, `-` and `_`."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", f"{prefix}-{key}").strip("-")
