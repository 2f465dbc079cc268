"""The frozen shapes of documents as such: parsed, cited, packed for a question, created."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from kb.records import record

_RUN = re.compile("`+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


@record
class ParsedHeading:
    """A heading: `name` is the canonical one where the schema of the type maps it, else the title itself."""

    name: str
    title: str
    level: int
    lines: tuple[int, int]
    text: str

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {"name": self.name, "title": self.title, "level": self.level, "lines": list(self.lines), "text": self.text}


@record
class ParsedItem:
    """An item `[ ]` or `[x]` and the canonical heading that it stands under."""

    text: str
    done: bool
    depth: int
    line: int
    heading: str

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {"text": self.text, "done": self.done, "depth": self.depth, "line": self.line, "heading": self.heading}


@record
class ParsedEntry:
    """A dated note and the canonical heading that it stands under; `at` is ISO 8601."""

    at: str
    text: str
    line: int
    heading: str

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {"at": self.at, "text": self.text, "line": self.line, "heading": self.heading}


@record
class ParsedAnswer:
    """A section as data. A file that failed has no id, and `error` says why."""

    id: str | None
    title: str
    collection: str
    source: str | None
    type: str | None
    status: str | None
    language: str | None
    front_matter: Mapping[str, object]
    headings: tuple[ParsedHeading, ...]
    items: tuple[ParsedItem, ...]
    entries: tuple[ParsedEntry, ...]
    error: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        out: dict[str, Any] = {
            "id": self.id,
            "title": self.title,
            "collection": self.collection,
            "source": self.source,
            "type": self.type,
            "status": self.status,
            "language": self.language,
            "front_matter": dict(self.front_matter),
            "headings": [heading.as_json() for heading in self.headings],
            "items": [item.as_json() for item in self.items],
            "entries": [entry.as_json() for entry in self.entries],
        }
        if self.error is not None:
            out["error"] = self.error
        return out


@record
class Clause:
    """A clause that can be cited. `fields` is what its front matter holds beside the named ones."""

    id: str
    scheme: str | None
    version: str | None
    clause: str | None
    title: str
    summary: str | None
    source_url: str | None
    as_of: str | None
    disclaimer: str | None
    fields: Mapping[str, object]
    collection: str
    language: str | None
    source: str
    path: str

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {
            "id": self.id,
            "scheme": self.scheme,
            "version": self.version,
            "clause": self.clause,
            "title": self.title,
            "summary": self.summary,
            "source_url": self.source_url,
            "as_of": self.as_of,
            "disclaimer": self.disclaimer,
            **self.fields,
            "collection": self.collection,
            "language": self.language,
            "source": self.source,
            "path": self.path,
        }


@record
class GroundPassage:
    """Lines of a file, word for word; `id` is the deepest section that holds them."""

    id: str
    title: str
    path: str
    collection: str
    source: str
    lines: tuple[int, int]
    language: str | None
    score: float
    text: str

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {
            "id": self.id,
            "title": self.title,
            "path": self.path,
            "collection": self.collection,
            "source": self.source,
            "lines": list(self.lines),
            "language": self.language,
            "score": self.score,
            "text": self.text,
        }


@record
class GroundAnswer:
    """Passages for a question within a budget of characters, best first.

    Neither `markdown` nor the JSON, indented by two, is longer than the budget. `omitted_count` counts the passages that
    matched and did not fit; `omitted` names the sections of the first of them, as far as there was room.
    """

    question: str
    mode: str
    budget: int
    passages: tuple[GroundPassage, ...]
    omitted_count: int
    omitted: tuple[str, ...] = ()
    warning: str | None = None

    @property
    def characters(self) -> int:
        """The length of the pack as it is printed, in its longer form."""
        return max(len(self.markdown), len(json.dumps(self.as_json(), ensure_ascii=False, indent=2)) + 1)

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        return {
            "question": self.question,
            "mode": self.mode,
            "budget": self.budget,
            "passages": [passage.as_json() for passage in self.passages],
            "omitted": {"count": self.omitted_count, "ids": list(self.omitted)},
            "warning": self.warning,
        }

    @property
    def markdown(self) -> str:
        """The pack as Markdown. Each passage stands in a fence longer than any run of backticks in it."""
        out = [f"# Passages for {span(self.question)}\n"]
        for number, passage in enumerate(self.passages, 1):
            first, last = passage.lines
            fence = "`" * max(3, _longest_run(passage.text) + 1)
            out.append(
                f"\n## {number}. {span(passage.title)}\n\n- id: {span(passage.id)}\n- path: {span(passage.path)}\n"
                f"- source: {span(f'{passage.source}:{first}-{last}')} in {span(passage.collection)}\n\n"
                f"{fence}text\n{passage.text}\n{fence}\n"
            )
        if self.omitted_count:
            named = ", ".join(map(span, self.omitted))
            out.append(f"\nOmitted for lack of room: {self.omitted_count}" + (f", from {named}" if named else "") + "\n")
        return "".join(out)


def span(text: str) -> str:
    """Return a text as one Markdown code span that nothing in it can end."""
    line = " ".join(_CONTROL.sub(" ", text).split())
    ticks = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _RUN.findall(text)), default=0)


@record
class NewAnswer:
    """A document that was created."""

    id: str
    parent_id: str | None
    slug: str
    path: str
    title: str
    description: str
    content: str
    status: str
    sort_order: float | None
    depth: int
    created_at: str
    updated_at: str
    collection: str
    source: str
    language: str | None
    warning: str | None = None

    @property
    def message(self) -> str:
        """What was done, in a sentence."""
        return f"created {self.path} ({self.source} in {self.collection})"

    def as_json(self) -> dict[str, Any]:
        """Return the object for JSON."""
        out: dict[str, Any] = {
            "success": True,
            "doc": {
                "id": self.id,
                "parent_id": self.parent_id,
                "slug": self.slug,
                "path": self.path,
                "title": self.title,
                "description": self.description,
                "content": self.content,
                "status": self.status,
                "sort_order": self.sort_order,
                "depth": self.depth,
                "created_at": self.created_at,
                "updated_at": self.updated_at,
                "collection": self.collection,
                "source": self.source,
                "language": self.language,
            },
            "message": self.message,
        }
        if self.warning is not None:
            out["warning"] = self.warning
        return out
