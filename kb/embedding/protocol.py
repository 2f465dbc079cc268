"""What an embedding model and a reranker are to the rest of kb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

DENSE = "dense"
SPARSE = "sparse"
MULTI_VECTOR = "multi-vector"


@dataclass(frozen=True, slots=True)
class Embeddings:
    """What a model gives for n texts.

    `dense`: float32, shape (n, dimension), rows of length 1. `sparse`: for each text token id -> weight (> 0).
    `multi`: for each text float32 of shape (tokens, dimension), rows of length 1. The last two are None unless asked for.
    """

    dense: Matrix
    sparse: tuple[Mapping[int, float], ...] | None = None
    multi: tuple[Matrix, ...] | None = None


class Embedder(Protocol):
    """An embedding model. Safe to share between threads.

    `id` names the model and its weights: vectors of two ids are never compared. `max_tokens` is what it reads of a text
    at once. `capabilities` are some of dense, sparse and multi-vector.
    """

    @property
    def id(self) -> str:
        """The model and its weights."""

    @property
    def dimension(self) -> int:
        """Numbers in a dense vector."""

    @property
    def max_tokens(self) -> int:
        """Tokens read at once."""

    @property
    def capabilities(self) -> frozenset[str]:
        """Some of dense, sparse and multi-vector."""

    def embed_queries(self, texts: Sequence[str], *, full: bool = False) -> Embeddings:
        """Embed questions; `full` asks for everything the model can give, not only dense vectors."""

    def embed_passages(self, texts: Sequence[str], *, full: bool = False) -> Embeddings:
        """Embed passages; `full` asks for everything the model can give, not only dense vectors."""

    def close(self) -> None:
        """Let go of the weights."""


class Reranker(Protocol):
    """A model that scores pairs of a question and a passage; higher is better, on a scale of its own."""

    @property
    def id(self) -> str:
        """The model and its weights."""

    def scores(self, query: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """Return one score a passage."""

    def close(self) -> None:
        """Let go of the weights."""


def normalised(matrix: NDArray[np.floating]) -> Matrix:
    """Return float32 rows of length 1; a row that is zero or not finite becomes all NaN, to be left out by whoever stores it."""
    rows = np.asarray(matrix, dtype=np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    usable = np.isfinite(lengths) & (lengths > 0)
    out = np.full_like(rows, np.nan)
    out[usable] = rows[usable] / lengths[usable, None].astype(np.float32)
    return out


def usable(matrix: Matrix) -> NDArray[np.bool_]:
    """Return which rows are vectors: finite and not zero."""
    with np.errstate(invalid="ignore", over="ignore"):
        lengths = np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64)
    found: NDArray[np.bool_] = np.isfinite(lengths) & (lengths > 0)
    return found
