"""The engine of a base: what `KnowledgeBase` asks where kb.toml names one."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kb.config import Config, EngineSettings
from kb.engines import state
from kb.engines.candidates import FIRST, CandidateRanker
from kb.engines.fill import Filler, Progress
from kb.engines.state import Filled
from kb.engines.store import Store
from kb.errors import IndexBusy
from kb.index.catalog import Catalog
from kb.index.snapshot import Snapshot
from kb.ranking.ranker import Weights

if TYPE_CHECKING:
    from kb.index.embed import View

KEY = "KB_QDRANT_KEY"
WRITTEN_AT_SEARCH = 20
"""Documents that a search brings to the engine itself; more is for `kb index`."""
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

    def prepare(self, catalog: Catalog, snapshot: Callable[[], Snapshot], weights: Weights) -> None:
        """Write what little has changed since the last time. Call it outside of any transaction."""
        if catalog.folder is None or not state.made(catalog) or state.current(catalog) is None:
            return
        if 0 < state.behind(catalog, state.PUT, state.GONE) <= WRITTEN_AT_SEARCH:
            try:
                self.fill(catalog, snapshot, weights, wait=0.0)
            except IndexBusy:  # whoever writes there now writes this too
                return

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
        match: dict[str, Sequence[str | int]] = {key: list(values) for key, values in self._match.items()}
        return CandidateRanker(self._engine.store, held.collection, held.means, parameters, match, self._gone, self._first)

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
