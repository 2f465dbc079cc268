"""What a search returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kb.records import record


@record
class PassageRef:
    """Where the answering passage stands: the deepest section that holds it, and its 1-based lines in the file."""

    id: str
    title: str
    lines: tuple[int, int]

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {"id": self.id, "title": self.title, "lines": list(self.lines)}


@record
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


@record
class SearchAnswer:
    """What a search found: `total` sections match, `results` are the page asked for.

    `corrected`: the query as it was searched, where words were unknown. `also`: what a glossary added to it.
    """

    query: str
    mode: str
    results: tuple[Result, ...]
    total: int
    warning: str | None = None
    corrected: str | None = None
    also: tuple[str, ...] = ()

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
        if self.also:
            out["also"] = list(self.also)
        return out
