"""What is said of a base and its index."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kb.records import record

if TYPE_CHECKING:
    from kb.reading.likeness import VectorsMade


@record
class CollectionStatus:
    """What one collection holds; `skipped` counts the files of kinds that are not read, by suffix."""

    name: str
    root: str
    documents: int
    sections: int
    passages: int
    languages: Mapping[str, int]
    skipped: Mapping[str, int]
    errors: tuple[tuple[str, str], ...]  # (source, error)
    warnings: tuple[str, ...]
    clashes: tuple[tuple[str, tuple[str, ...]], ...]  # (id, sources that claim it)

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {
            "name": self.name,
            "root": self.root,
            "documents": self.documents,
            "sections": self.sections,
            "passages": self.passages,
            "languages": dict(self.languages),
            "skipped": dict(self.skipped),
            "errors": [{"source": s, "title": "<failed to parse>", "error": e} for s, e in self.errors],
            "warnings": list(self.warnings),
            "duplicate_ids": [{"id": i, "sources": list(sources)} for i, sources in self.clashes],
        }


@record
class StatusAnswer:
    """The state of a base and of its index. `pending` counts files that changed since it was written."""

    base: str
    collections: tuple[CollectionStatus, ...]
    index: str
    bytes: int
    segments: int
    pending: int
    warning: str | None = None
    extra: Mapping[str, Any] = MappingProxyType({})

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {
            "base": self.base,
            "collections": [collection.as_json() for collection in self.collections],
            "index": {"path": self.index, "bytes": self.bytes, "segments": self.segments, "pending": self.pending},
            "warning": self.warning,
            **self.extra,
        }


@record
class IndexAnswer:
    """What an index run did: files written, removed and left as they were."""

    indexed: int
    removed: int
    unchanged: int
    seconds: float
    rebuilt: bool
    warnings: tuple[str, ...] = ()
    vectors: VectorsMade | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {
            "indexed": self.indexed,
            "removed": self.removed,
            "unchanged": self.unchanged,
            "seconds": round(self.seconds, 3),
            "rebuilt": self.rebuilt,
            "warnings": list(self.warnings),
            **({"vectors": self.vectors.as_json()} if self.vectors else {}),
        }
