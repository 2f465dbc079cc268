"""What an engine asks of whatever holds its points, in plain data: a server, the client's own memory, a shard.

A point stands for one unit of a hit: a passage, a hit's lead, or one of its names. Its sparse vectors hold what each term
adds to the unit's BM25 score, without the idf, which comes with the query: no server has to know how often a term occurs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEXT = "bm25"
"""The sparse vector of a passage or a lead."""
NAMES = "names"
"""The sparse vector of a name (a title or an alias)."""
DENSE = "dense"
KEYWORDS = ("kind", "collection", "type", "language", "status", "source", "section_id")
"""Payload that is looked up as a whole word."""
NUMBERS = ("hit",)

Sparse = tuple["NDArray[np.uint32]", "NDArray[np.float32]"]
"""Numbers of terms (see `kb.engines.points.number_of`), each once, and their values."""


@dataclass(frozen=True, slots=True)
class Point:
    """One point: its id (a UUID), its vectors by name, its payload."""

    id: str
    sparse: Mapping[str, Sparse]
    dense: NDArray[np.float32] | None
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question: the `limit` points with the highest dot product (cosine, for a dense vector) among those that match.

    `match`: payload key -> values of which the point must have one. `exact`: compare with every vector, use no graph.
    """

    using: str
    vector: Sparse | NDArray[np.float32]
    limit: int
    match: Mapping[str, Sequence[str | int]] = field(default_factory=dict)
    payload: tuple[str, ...] = ("hit",)
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A point that answers: its score, and the payload asked for."""

    score: float
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Vector:
    """The dense vector of a point, and its payload."""

    vector: Sequence[float]
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Held:
    """What a collection holds: points, shards, and whether the server calls it well (`green`)."""

    points: int
    shards: int
    status: str


class Store(Protocol):
    """Collections of points. Every method raises EngineUnusable in one line where the other side can't do its work."""

    def version(self) -> str:
        """Return the version of the server."""
        ...

    def create(self, collection: str, dimension: int | None) -> None:
        """Make a collection: two sparse vectors without a modifier, and a dense one by cosine where `dimension` is given."""
        ...

    def put(self, collection: str, points: Sequence[Point]) -> None:
        """Write points, those of equal id over what was there."""
        ...

    def remove(self, collection: str, match: Mapping[str, Sequence[str | int]], keep: Sequence[str] = ()) -> None:
        """Remove the points that match, but for those whose ids are in `keep`."""
        ...

    def ask(self, collection: str, asks: Sequence[Ask]) -> list[list[Found]] | None:
        """Return the answers to several questions, best first, or None where there is no such collection."""
        ...

    def scroll(self, collection: str, after: str | None) -> tuple[list[Vector], str | None]:
        """Return some of the points that have a dense vector, and what continues after them (None at the end)."""
        ...

    def switch(self, alias: str, collection: str) -> None:
        """Make a name stand for a collection, in one step."""
        ...

    def held(self, collection: str) -> Held | None:
        """Return what a collection (or alias) holds, None where there is none."""
        ...

    def drop(self, collection: str) -> None:
        """Remove a collection, if it is there."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...
