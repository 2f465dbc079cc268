"""Second looks at the best candidates: BGE-M3's own three heads, or a cross-encoder through FlagReranker."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kb.embedding.bge_m3 import _offline, multi_vector_score, sparse_score
from kb.embedding.protocol import MULTI_VECTOR, SPARSE, Embedder
from kb.embedding.texts import clean
from kb.embedding.weights import _TOKENIZERS, _WEIGHTS, _digest, positions
from kb.errors import SemanticUnavailable

HEAD_WEIGHTS = (0.4, 0.2, 0.4)
"""Dense, sparse and multi-vector, as the model's own page weighs them in its example of `compute_score`."""
RERANKED = 20
"""Candidates that are looked at again; each costs a pass of its passage through the model."""


MOST_TOKENS = 512
"""Of a question and a passage together; what cross-encoders are trained with at the least."""
_QUERY_SHARE = 4
"""A question may take a quarter of them: a longer one leaves no room for the passage."""


class HeadReranker:
    """Scores by the three heads of the embedding model that is loaded anyway."""

    def __init__(self, embedder: Embedder, weights: Sequence[float] = HEAD_WEIGHTS) -> None:
        if not {SPARSE, MULTI_VECTOR} <= embedder.capabilities:
            raise SemanticUnavailable(f"{embedder.id} has dense vectors only and can't rerank", "set semantic.rerank to none")
        self.id = f"{embedder.id}/heads"
        self._embedder = embedder
        total = sum(weights)
        self._weights = tuple(weight / total for weight in weights)

    def scores(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Return the weighted mean of the three scores for each passage."""
        asked = self._embedder.embed_queries([query], full=True)
        given = self._embedder.embed_passages(passages, full=True)
        assert asked.sparse is not None and asked.multi is not None
        assert given.sparse is not None and given.multi is not None
        dense = given.dense @ asked.dense[0]
        sparse = np.array([sparse_score(asked.sparse[0], one) for one in given.sparse])
        multi = np.array([multi_vector_score(asked.multi[0], one) for one in given.multi])
        parts = zip(self._weights, (dense, sparse, multi), strict=True)
        return np.asarray(sum(weight * part for weight, part in parts), dtype=np.float32)

    def close(self) -> None:
        """Nothing of its own to let go of."""


class CrossEncoder:
    """A cross-encoder such as bge-reranker-v2-m3, from a local folder."""

    def __init__(self, folder: Path) -> None:
        self.max_tokens = min(check(folder), MOST_TOKENS)
        with _offline():
            import torch
            from FlagEmbedding import FlagReranker

            device = "cuda:0" if torch.cuda.is_available() else "cpu"
            self._model: Any = FlagReranker(str(folder), use_fp16=device != "cpu", devices=device)
        self.id = f"{folder.name}@{_digest(folder)}"
        self._lock = threading.Lock()

    def scores(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Return one score a passage."""
        if not passages:
            return np.zeros(0, np.float32)
        pairs = [(clean(query), clean(passage)) for passage in passages]
        with self._lock:
            if self._model is None:
                raise RuntimeError("the reranker has been closed")
            # One pair more than there are keeps its progress bar off.
            found = self._model.compute_score(
                pairs, batch_size=len(pairs) + 1, max_length=self.max_tokens, query_max_length=self.max_tokens // _QUERY_SHARE
            )
        return np.atleast_1d(np.asarray(found, dtype=np.float32))

    def close(self) -> None:
        """Let go of the weights."""
        with self._lock:
            self._model = None


def check(folder: Path) -> int:
    """Return how many tokens the cross-encoder in a folder reads at most; SemanticUnavailable where it can't be loaded."""
    lacking = [] if (folder / "config.json").is_file() else ["config.json"]
    lacking += [names[0] for names in (_WEIGHTS, _TOKENIZERS) if not any((folder / name).is_file() for name in names)]
    if lacking:
        raise SemanticUnavailable(
            f"the reranker folder {folder} lacks {', '.join(lacking)}", "name another folder, or set semantic.rerank to none"
        )
    return positions(folder)
