"""The frozen shapes that every surface returns, and their form as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kb.reading.likeness import VectorsMade


@dataclass(frozen=True, slots=True)
class PassageRef:
    """Where the answering passage stands: the deepest section that holds it, and its 1-based lines in the file."""

    id: str
    title: str
    lines: tuple[int, int]

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {"id": self.id, "title": self.title, "lines": list(self.lines)}


@dataclass(frozen=True, slots=True)
class Result:
    """One hit of a search."""

    id: str
    title: str
    score: float
    snippet: str
    path: str
    collection: str
    type: str | None
    language: str
    languages: tuple[str, ...]
    source: str
    passage: PassageRef | None
    highlights: tuple[tuple[int, int], ...]
    stale: bool = False
    low_confidence: bool = False
    explanation: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON, the promised keys first."""
        out: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "score": self.score,
            "snippet": self.snippet,
            "path": self.path,
            "collection": self.collection,
            "type": self.type,
            "language": self.language,
            "languages": list(self.languages),
            "source": self.source,
            "passage": self.passage.as_json() if self.passage else None,
            "highlights": [list(pair) for pair in self.highlights],
        }
        if self.stale:
            out["stale"] = True
        if self.low_confidence:
            out["low_confidence"] = True
        if self.explanation is not None:
            out["explanation"] = dict(self.explanation)
        return out


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What a search found: `total` sections match, `results` are the page asked for."""

    query: str
    mode: str
    results: tuple[Result, ...]
    total: int
    warning: str | None = None
    corrected: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        out: dict[str, Any] = {
            "query": self.query,
            "mode": self.mode,
            "results": [result.as_json() for result in self.results],
            "total": self.total,
            "warning": self.warning,
        }
        if self.corrected is not None:
            out["corrected"] = self.corrected
        return out


@dataclass(frozen=True, slots=True)
class Node:
    """A section's place in the tree: enough to name it and to go there."""

    id: str
    title: str

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {"id": self.id, "title": self.title}


@dataclass(frozen=True, slots=True)
class SectionAnswer:
    """One section with its text, subsections included, and its neighbours in the tree."""

    id: str | None
    title: str
    path: str
    body: str
    parent: str | None
    children: tuple[Node, ...]
    siblings: tuple[Node, ...]
    word_count: int
    language: str | None
    languages: tuple[str, ...]
    collection: str
    type: str | None
    status: str | None
    source: str | None
    lines: tuple[int, int] | None
    error: str | None = None
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        out: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "path": self.path,
            "body": self.body,
            "parent": self.parent,
            "children": [node.as_json() for node in self.children],
            "siblings": [node.as_json() for node in self.siblings],
            "word_count": self.word_count,
            "language": self.language,
            "languages": list(self.languages),
            "collection": self.collection,
            "type": self.type,
            "status": self.status,
            "source": self.source,
            "lines": list(self.lines) if self.lines else None,
        }
        if self.error is not None:
            out["error"] = self.error
        if self.warnings:
            out["warnings"] = list(self.warnings)
        return out


@dataclass(frozen=True, slots=True)
class RawWindow:
    """Lines of a section's source as they stand in the file, from `offset` (1-based) on."""

    id: str | None
    source: str
    offset: int
    lines: tuple[str, ...]
    total: int
    numbered: bool

    @property
    def text(self) -> str:
        """The lines joined, each ended as in the body; numbered as `<n>: ` where that was asked for."""
        if self.numbered:
            return "".join(f"{self.offset + i}: {line}" for i, line in enumerate(self.lines))
        return "".join(self.lines)

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON; `next_offset` is the line that continues, or null at the end."""
        following = self.offset + len(self.lines)
        return {
            "id": self.id,
            "source": self.source,
            "offset": self.offset,
            "limit": len(self.lines),
            "total_lines": self.total,
            "next_offset": following if following <= self.total else None,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list: a hit-level section, or a file that failed (`id` is None and `error` says why)."""

    id: str | None
    title: str
    collection: str
    type: str | None
    status: str | None
    language: str | None
    languages: tuple[str, ...]
    source: str
    path: str
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        out: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "collection": self.collection,
            "type": self.type,
            "status": self.status,
            "language": self.language,
            "languages": list(self.languages),
            "source": self.source,
            "path": self.path,
        }
        if self.error is not None:
            out["error"] = self.error
        return out


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """A page of sections: `total` in all, `truncated` when more follow, `error_count` files that failed."""

    rows: tuple[Row, ...]
    total: int
    offset: int
    truncated: bool
    error_count: int

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {
            "results": [row.as_json() for row in self.rows],
            "total": self.total,
            "offset": self.offset,
            "truncated": self.truncated,
            "error_count": self.error_count,
        }


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of the tree with what lies under it, as deep as was asked for."""

    id: str
    title: str
    collection: str
    children: tuple[TreeNode, ...] = ()
    more: int = 0  # children that the depth hides

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        out: dict[str, Any] = {"id": self.id, "title": self.title, "collection": self.collection}
        out["children"] = [child.as_json() for child in self.children]
        if self.more:
            out["more"] = self.more
        return out


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class StatusAnswer:
    """The state of a base and of its index. `pending` counts files that changed since it was written."""

    base: str
    collections: tuple[CollectionStatus, ...]
    index: str
    bytes: int
    segments: int
    pending: int
    warning: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {
            "base": self.base,
            "collections": [collection.as_json() for collection in self.collections],
            "index": {"path": self.index, "bytes": self.bytes, "segments": self.segments, "pending": self.pending},
            "warning": self.warning,
            **self.extra,
        }


@dataclass(frozen=True, slots=True)
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
