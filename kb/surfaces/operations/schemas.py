"""JSON schemas of the answers. Every one is an object; keys that may be absent are described but not required."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
ANY: Schema = {"type": "object"}
LINES: Schema = {"type": "array", "items": WHOLE}


def record(required: Schema, optional: Schema | None = None, description: str | None = None) -> Schema:
    """Return the schema of an object with these keys."""
    out: Schema = {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}
    return {**out, "description": description} if description else out


def rows(item: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": item}


def maybe(schema: Schema) -> Schema:
    """Return the schema of a value that may be null."""
    return {**schema, "type": [schema["type"], "null"]}


NEXT: Schema = {"type": "object", "description": "a useful next call: tool and arguments"}
TRUNCATED: Schema = FLAG
COMMON: Schema = {"next": NEXT, "truncated": TRUNCATED}


def answer(required: Schema, optional: Schema | None = None) -> Schema:
    """Return the schema of an answer: an object that may hold what is next, or say that it was cut."""
    return record(required, {**(optional or {}), **COMMON})


NODE = record({"id": TEXT, "title": TEXT})
PASSAGE = record({"id": TEXT, "title": TEXT, "lines": LINES})

SEARCH = answer(
    {
        "query": TEXT,
        "mode": {"enum": ["keyword", "semantic"], "description": "what really ran"},
        "results": rows(
            record(
                {
                    "id": TEXT,
                    "title": TEXT,
                    "score": NUMBER,
                    "snippet": TEXT,
                    "path": {"type": "string", "description": "breadcrumb"},
                },
                {
                    "collection": TEXT,
                    "type": MAYBE_TEXT,
                    "language": TEXT,
                    "languages": TEXTS,
                    "source": TEXT,
                    "passage": {**maybe(PASSAGE), "description": "the deepest section that holds the answer"},
                    "highlights": rows(LINES),
                    "stale": FLAG,
                    "low_confidence": FLAG,
                    "explanation": ANY,
                },
            )
        ),
        "total": {"type": "integer", "description": "sections that match, before the limit"},
        "warning": MAYBE_TEXT,
    },
    {
        "corrected": {"type": "string", "description": "the query after unseen words were corrected"},
        "also": {**TEXTS, "description": "what a glossary added to the query"},
        "total_exact": FLAG,
    },
)

# A section as text, as raw lines or as data: the three hold different keys.
SECTION = answer(
    {"id": MAYBE_TEXT, "source": MAYBE_TEXT},
    {
        "title": TEXT,
        "path": TEXT,
        "body": TEXT,
        "parent": MAYBE_TEXT,
        "children": rows(NODE),
        "siblings": rows(NODE),
        "word_count": WHOLE,
        "language": MAYBE_TEXT,
        "languages": TEXTS,
        "collection": TEXT,
        "type": MAYBE_TEXT,
        "status": MAYBE_TEXT,
        "lines": maybe(LINES),
        "error": {"type": "string", "description": "why the file could not be read"},
        "warnings": TEXTS,
        "offset": WHOLE,
        "limit": WHOLE,
        "total_lines": WHOLE,
        "next_offset": {"type": ["integer", "null"], "description": "the raw line to go on from"},
        "text": {"type": "string", "description": "raw lines"},
        "front_matter": ANY,
        "headings": rows(ANY),
        "items": rows(ANY),
        "entries": rows(ANY),
        "children_omitted": WHOLE,
        "siblings_omitted": WHOLE,
    },
)

LIST = answer(
    {
        "results": rows(
            record(
                {"id": MAYBE_TEXT, "title": TEXT, "source": TEXT},
                {
                    "collection": TEXT,
                    "type": MAYBE_TEXT,
                    "status": MAYBE_TEXT,
                    "language": MAYBE_TEXT,
                    "languages": TEXTS,
                    "path": TEXT,
                    "error": TEXT,
                },
            )
        ),
        "total": WHOLE,
        "offset": WHOLE,
        "truncated": TRUNCATED,
        "error_count": WHOLE,
    }
)

TREE = answer(
    {
        "results": rows(
            record(
                {"id": TEXT, "title": TEXT, "collection": TEXT, "children": rows(ANY)},
                {"more": {"type": "integer", "description": "children not shown"}},
            )
        )
    }
)

GROUND = answer(
    {
        "question": TEXT,
        "mode": TEXT,
        "budget": WHOLE,
        "passages": rows(
            record(
                {"id": TEXT, "path": TEXT, "source": TEXT, "lines": LINES, "text": TEXT},
                {"title": TEXT, "collection": TEXT, "language": MAYBE_TEXT, "score": NUMBER},
            )
        ),
        "omitted": record({"count": WHOLE, "ids": TEXTS}),
        "warning": MAYBE_TEXT,
    }
)

CITE = answer(
    {"id": TEXT, "title": TEXT},
    {
        **dict.fromkeys(("scheme", "version", "clause", "summary", "source_url", "as_of", "disclaimer"), MAYBE_TEXT),
        "collection": TEXT,
        "language": MAYBE_TEXT,
        "source": TEXT,
        "path": TEXT,
    },
)

_AVAILABILITY: Schema = {
    "reason": {"enum": ["disabled", "backend-unavailable"]},
    "message": {"type": "string", "description": "why not, and what to do"},
    "warning": TEXT,
}

SIMILAR = answer(
    {"available": FLAG},
    {
        "results": rows(
            record(
                {"type": MAYBE_TEXT, "id": MAYBE_TEXT, "title": TEXT, "score": NUMBER},
                {"status": MAYBE_TEXT, "path": TEXT, "source": TEXT, "collection": TEXT},
            )
        ),
        **_AVAILABILITY,
    },
)

VECTOR = answer(
    {
        "query": TEXT,
        "top_k": WHOLE,
        "returned": WHOLE,
        "method": TEXT,
        "results": rows(record({"id": TEXT, "score": NUMBER}, {"title": TEXT})),
        "disclaimer": TEXT,
    }
)

CHUNKS = answer(
    {"available": FLAG},
    {
        "results": rows(record({"chunk_id": TEXT, "document_title": TEXT, "content": TEXT, "score": NUMBER})),
        **_AVAILABILITY,
    },
)

STATUS = answer(
    {
        "base": TEXT,
        "collections": rows(
            record(
                {"name": TEXT, "documents": WHOLE, "sections": WHOLE, "passages": WHOLE},
                {
                    "root": TEXT,
                    "languages": ANY,
                    "skipped": ANY,
                    "errors": rows(record({"source": TEXT, "error": TEXT}, {"title": TEXT})),
                    "warnings": TEXTS,
                    "duplicate_ids": rows(ANY),
                },
            )
        ),
        "index": ANY,
        "warning": MAYBE_TEXT,
    },
    {"engine": ANY},
)

NEW = answer(
    {
        "success": FLAG,
        "doc": record(
            {"id": TEXT, "slug": TEXT, "path": TEXT, "title": TEXT, "content": TEXT, "status": TEXT, "depth": WHOLE},
            {
                "parent_id": MAYBE_TEXT,
                "description": TEXT,
                "sort_order": MAYBE_NUMBER,
                "created_at": TEXT,
                "updated_at": TEXT,
                "collection": TEXT,
                "source": TEXT,
                "language": MAYBE_TEXT,
            },
        ),
        "message": TEXT,
    },
    {"warning": TEXT},
)
