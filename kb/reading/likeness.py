"""The frozen shapes of answers about likeness, vectors and health; apart from `kb.answers`, for a search needs none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kb.records import record


@record
class VectorsMade:
    """What embedding did: texts embedded now, texts that had their vectors, texts that give none."""

    model: str
    embedded: int
    unchanged: int
    without: int
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {
            "model": self.model,
            "embedded": self.embedded,
            "unchanged": self.unchanged,
            "without": self.without,
            "seconds": round(self.seconds, 3),
        }


@record
class SimilarRow:
    """A section that resembles another, or a file that failed (`id` is None), with its cosine."""

    type: str | None
    id: str | None
    title: str
    status: str | None
    path: str
    source: str
    score: float
    collection: str

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON, the promised keys first."""
        return {
            "type": self.type,
            "id": self.id,
            "title": self.title,
            "status": self.status,
            "path": self.path,
            "source": self.source,
            "score": self.score,
            "collection": self.collection,
        }


@record
class SimilarAnswer:
    """Sections by likeness; where that can't be had `reason` is `disabled` or `backend-unavailable`."""

    available: bool
    results: tuple[SimilarRow, ...] = ()
    reason: str | None = None
    message: str | None = None
    warning: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return _available(self.available, [row.as_json() for row in self.results], self.reason, self.message, self.warning)


@record
class Chunk:
    """A passage with its cosine to a question, clipped at 0; `chunk_id` is its source and lines."""

    chunk_id: str
    document_title: str
    content: str
    score: float

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {
            "chunk_id": self.chunk_id,
            "document_title": self.document_title,
            "content": self.content,
            "score": self.score,
        }


@record
class ChunksAnswer:
    """Passages by likeness; where that can't be had `reason` is `disabled` or `backend-unavailable`."""

    available: bool
    results: tuple[Chunk, ...] = ()
    reason: str | None = None
    message: str | None = None
    warning: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return _available(self.available, [row.as_json() for row in self.results], self.reason, self.message, self.warning)


def _available(
    available: bool, results: list[dict[str, Any]], reason: str | None, message: str | None, warning: str | None
) -> dict[str, Any]:
    if not available:
        return {"available": False, "reason": reason, "message": message}
    return {"available": True, "results": results, **({"warning": warning} if warning else {})}


@record
class VectorAnswer:
    """Sections by lexical vectors; `top_k` as it was asked for, `method` and `disclaimer` say what the scores are."""

    query: str
    top_k: int
    method: str
    results: tuple[Mapping[str, Any], ...]
    disclaimer: str

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {
            "query": self.query,
            "top_k": self.top_k,
            "returned": len(self.results),
            "method": self.method,
            "results": [dict(row) for row in self.results],
            "disclaimer": self.disclaimer,
        }


@record
class Check:
    """One thing that was looked at: `ok` is None where it could not be (and need not be), `detail` says what was found."""

    name: str
    ok: bool | None
    detail: str

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {"name": self.name, "ok": self.ok, "detail": self.detail}


@record
class DoctorAnswer:
    """What `kb doctor` looked at."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """True where nothing is broken."""
        return all(check.ok is not False for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {"ok": self.ok, "checks": [check.as_json() for check in self.checks]}
