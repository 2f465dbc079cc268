"""What reading and browsing return: a section, raw lines, rows of a list, nodes of the tree."""

from __future__ import annotations

from typing import Any

from kb.records import record


@record
class Node:
    """A section's place in the tree: enough to name it and to go there."""

    id: str
    title: str

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {"id": self.id, "title": self.title}


@record
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


@record
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


@record
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


@record
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


@record
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
