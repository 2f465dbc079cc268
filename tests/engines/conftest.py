from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bases import Base

from kb.base import KnowledgeBase
from kb.engines.engine import Engine
from kb.engines.store import Store

MakeStore = Callable[[], Store]
ENGINES = ("memory", "edge", "three shards", "live")


def memory() -> Store:
    client = pytest.importorskip("qdrant_client", reason="qdrant-client is not installed: pip install 'kb-search[qdrant]'")
    from kb.engines.client import ClientStore

    return ClientStore(client.QdrantClient(":memory:"), "memory", pause=0.0)


def live() -> Store:
    pytest.importorskip("qdrant_client", reason="qdrant-client is not installed: pip install 'kb-search[qdrant]'")
    url = os.environ.get("KB_QDRANT_URL")
    if not url:
        pytest.skip("NOT RUN against a live Qdrant: set KB_QDRANT_URL (and KB_QDRANT_KEY) to a server that may be written to")
    from kb.engines.client import connect

    return connect(url, os.environ.get("KB_QDRANT_KEY"))


@pytest.fixture
def make_store(tmp_path: Path) -> Iterator[Callable[[str], Store]]:
    """Return a store of a kind; closed at the end."""
    made: list[Any] = []

    def make(kind: str) -> Store:
        if kind in ("edge", "three shards"):
            pytest.importorskip("qdrant_edge", reason="qdrant-edge-py is not installed: pip install qdrant-edge-py")
            from engines.edge import EdgeStore

            made.append(EdgeStore(tmp_path / f"edge-{len(made)}", 3 if kind == "three shards" else 1))
        else:
            made.append(live() if kind == "live" else memory())
        return made[-1]  # type: ignore[no-any-return]

    yield make
    for store in made:
        store.close()


class Pair:
    """The same files under two indexes: the embedded one, and one that asks an engine."""

    def __init__(self, base: Base, store: Store, first: int) -> None:
        self.base = base
        self.store = store
        self.alias = f"kb-test-{uuid.uuid4().hex[:8]}"
        self.engine = Engine(store, self.alias, first=first)
        self.embedded = base.open()
        self.asking = KnowledgeBase(base.path, cache=base.place / "cache-engine", engine=self.engine)

    def index(self) -> None:
        self.embedded.index()
        self.asking.index()

    def same(self, query: str, **options: Any) -> None:
        ours = self.asking.search(query, explain=True, **options)
        assert ours == self.embedded.search(query, explain=True, **options), query
        assert ours.warning is None or "Qdrant" not in ours.warning

    def close(self) -> None:
        held = self.engine.store.held(self.alias)
        if held is not None:
            from kb.engines import fill

            for name in fill.names(self.asking._catalog()):
                self.store.drop(name)
        self.asking.close()


@pytest.fixture
def make_pair(make_base: Callable[..., Base], make_store: Callable[[str], Store]) -> Iterator[Callable[..., Pair]]:
    made: list[Pair] = []

    def make(kind: str, files: dict[str, str], *, toml: str | None = None, first: int = 4) -> Pair:
        made.append(Pair(make_base(files, toml), make_store(kind), first))
        made[-1].index()
        return made[-1]

    yield make
    for pair in made:
        pair.close()
