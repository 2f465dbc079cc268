"""The operations: what each is for, its arguments with their limits, and how it asks the base."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kb.errors import ArgumentError
from kb.surfaces.operations import schemas
from kb.surfaces.operations.bounds import BODY_OFFSET
from kb.surfaces.operations.model import Argument, Body, Operation, Values

if TYPE_CHECKING:
    from kb.base import KnowledgeBase

_LONGEST = 8192
_LONGEST_ID = 512
_LANGUAGE = "^[a-z]{2,3}$"

_COLLECTION = Argument("collection", "texts", "Only these collections.", longest=200)
_TYPE = Argument("type", "texts", "Only documents of these types.", longest=200)
_STATUS = Argument("status", "text", "Only documents with this status.", longest=200)
_LANG = Argument("language", "text", "Two-letter code, such as de.", longest=3, pattern=_LANGUAGE)
_ID = Argument(
    "id", "text", "Id of a section, such as B.3 or B.3@collection, or path of a source file.", required=True, longest=_LONGEST_ID
)
_SEMANTIC = Argument("semantic", "flag", "Rank by meaning too, where an embedding model is installed.", default=False)
_TOP_K = Argument("top_k", "whole", "Rows to return.", default=10, low=1, high=100)
_MIN_SCORE = Argument("min_score", "number", "Only rows with at least this cosine.", low=-1, high=1)
_MAX = Argument(
    "max_characters", "whole", "Longest answer, in characters of JSON; more is cut and can be read on.", low=2000, high=10_000_000
)

Renamed = dict[str, str]
_NARROWED: Renamed = {"collection": "collections", "type": "types"}


def _with(values: Values, renamed: Renamed, *left_out: str) -> dict[str, Any]:
    return {renamed.get(name, name): value for name, value in values.items() if name not in ("max_characters", *left_out)}


def _asking(method: str, renamed: Renamed | None = None, first: str | None = None) -> Callable[[KnowledgeBase, Values], Body]:
    """Return the call of a method of the base whose arguments have the same names, some of them renamed."""

    def call(base: KnowledgeBase, values: Values) -> Body:
        given = _with(values, renamed or {}, *([first] if first else []))
        answer = getattr(base, method)(*([values[first]] if first else []), **given)
        body: Body = answer.as_json()
        return body

    return call


def _section(base: KnowledgeBase, values: Values) -> Body:
    from kb.reading.checks import check_window

    id_, language = values["id"], values.get("language")
    raw, parsed = values.get("raw", False), values.get("parsed", False)
    window = {name: values.get(name) for name in ("offset", "limit")}
    check_window(raw, window["offset"], window["limit"], values.get("numbered", False))
    if raw and parsed:
        raise ArgumentError("raw and parsed exclude each other")
    if raw:
        return base.raw(id_, language=language, numbered=values.get("numbered", False), **window).as_json()
    if parsed:
        return base.parsed(id_, language=language).as_json()
    body = base.section(id_, language=language).as_json()
    if len(body["body"]) > 1000 and not str(body["source"]).lower().endswith((".html", ".htm")):
        lines = base.raw(id_, language=language).lines
        body[BODY_OFFSET] = 1 + next((number for number, line in enumerate(lines) if line.strip("\n")), 0)
    return body


def _list(base: KnowledgeBase, values: Values) -> Body:
    pairs = []
    for item in values.get("where", ()):
        key, equals, value = item.partition("=")
        if not equals or not key:
            raise ArgumentError(f"where needs key=value, got {item!r}")
        pairs.append((key, value))
    return base.list(**_with(values, _NARROWED, "where"), where=pairs).as_json()


def _tree(base: KnowledgeBase, values: Values) -> Body:
    nodes = base.tree(values.get("id"), **_with(values, {}, "id"))
    return {"results": [node.as_json() for node in nodes]}


def _chunks(base: KnowledgeBase, values: Values) -> Body:
    if ("query" in values) == ("vector" in values):
        raise ArgumentError("chunks needs either query or vector")
    return base.chunks(values.get("query"), **_with(values, {}, "query")).as_json()


_OPERATIONS = (
    Operation(
        "search",
        "Search the knowledge base",
        "Find the sections that answer a question or hold some words or an id; the best come first, each with a snippet. "
        "Start here, then read a hit with kb_section; for passages ready to quote use kb_ground.",
        (
            Argument(
                "query",
                "text",
                'Words, a question or an id; "phrases" must occur, -word excludes.',
                required=True,
                longest=_LONGEST,
            ),
            Argument("limit", "whole", "Sections to return.", default=5, low=1, high=50),
            Argument("offset", "whole", "Sections to skip, for the next page.", default=0, low=0, high=1_000_000),
            _SEMANTIC,
            _COLLECTION,
            _TYPE,
            _STATUS,
            _LANG,
            Argument("explain", "flag", "Show what each term adds to the score.", default=False),
            Argument(
                "typing",
                "flag",
                "The query is still being typed: words that its last one begins count too.",
                default=False,
                person=True,
            ),
        ),
        schemas.SEARCH,
        _asking("search", _NARROWED, "query"),
        rows="results",
        size="limit",
    ),
    Operation(
        "section",
        "Read a section",
        "Read one section by its id, with its place in the tree and its neighbours; a long one is cut and next reads on. "
        "Ids come from kb_search, kb_list or kb_tree.",
        (
            _ID,
            _LANG,
            Argument("raw", "flag", "The lines as they stand in the file, with offset and limit.", default=False),
            Argument("offset", "whole", "With raw: first line, from 1.", low=-1_000_000_000, high=1_000_000_000),
            Argument("limit", "whole", "With raw: number of lines.", low=-1_000_000_000, high=1_000_000_000),
            Argument("numbered", "flag", "With raw: number the lines.", default=False),
            Argument("parsed", "flag", "As data: front matter, headings, items, dated entries.", default=False),
            _MAX,
        ),
        schemas.SECTION,
        _section,
        key="id",
    ),
    Operation(
        "list",
        "List sections",
        "List sections by collection, type, status, date or front matter, in natural order, page by page. "
        "For a question use kb_search; for an outline kb_tree.",
        (
            _COLLECTION,
            _TYPE,
            _STATUS,
            Argument("since", "text", "Updated on this day or later, as YYYY-MM-DD.", longest=10, pattern=r"^\d{4}-\d{2}-\d{2}$"),
            Argument("where", "texts", "Front matter as key=value; all must hold.", longest=1000),
            Argument("glob", "text", "Only source files that match, such as notes/*.md.", longest=500),
            Argument("offset", "whole", "Rows to skip.", default=0, low=0, high=1_000_000_000),
            Argument("max_results", "whole", "Rows to return.", default=25, low=1, high=100),
        ),
        schemas.LIST,
        _list,
        rows="results",
        size="max_results",
    ),
    Operation(
        "tree",
        "Show the outline",
        "Show the outline of the base, or what lies under one section; a node says how many children it hides. "
        "Read a node with kb_section.",
        (
            Argument("id", "text", "Only what lies under this section.", longest=_LONGEST_ID),
            Argument("depth", "whole", "Levels to show.", default=3, low=1, high=64),
            Argument("language", "text", "Titles in this language where there are any.", longest=3, pattern=_LANGUAGE),
            _MAX,
        ),
        schemas.TREE,
        _tree,
        key="id",
        rows="results",
    ),
    Operation(
        "ground",
        "Gather passages for a question",
        "Gather the best passages for a question, word for word, with their sources and lines, within a budget of characters: "
        "what to quote in an answer. To look around first use kb_search.",
        (
            Argument("question", "text", "The question to answer.", required=True, longest=_LONGEST),
            Argument("budget", "whole", "Characters that all of it may take.", default=6000, low=200, high=1_000_000),
            Argument("ids", "texts", "Take passages from these sections only.", longest=_LONGEST_ID),
            _SEMANTIC,
            _COLLECTION,
            _TYPE,
            _STATUS,
            _LANG,
        ),
        schemas.GROUND,
        _asking("ground", _NARROWED, "question"),
        rows="passages",
        size="budget",
    ),
    Operation(
        "cite",
        "Cite a clause",
        "Give one clause as it is cited: summary, source address, date and disclaimer; its id is scheme:version:clause. "
        "Find clauses with kb_search or kb_list and type clause.",
        (Argument("id", "text", "Id of the clause.", required=True, longest=_LONGEST_ID), _LANG),
        schemas.CITE,
        _asking("cite", first="id"),
        key="id",
    ),
    Operation(
        "related",
        "Find sections like a section",
        "Find the sections nearest in meaning to one section; needs an embedding model, and says so where there is none. "
        "For a text of your own use kb_similar.",
        (_ID, _TOP_K, _MIN_SCORE, _TYPE, _LANG),
        schemas.SIMILAR,
        _asking("related", _NARROWED, "id"),
        key="id",
        rows="results",
        size="top_k",
    ),
    Operation(
        "similar",
        "Find sections like a text",
        "Find the sections nearest in meaning to a text, such as a draft; needs an embedding model, and says so where there is "
        "none. For a question use kb_search.",
        (Argument("text", "text", "The text.", required=True, longest=100_000), _TOP_K, _MIN_SCORE, _TYPE),
        schemas.SIMILAR,
        _asking("similar", _NARROWED, "text"),
        rows="results",
        size="top_k",
    ),
    Operation(
        "vector",
        "Search by spelling",
        "Rank sections by lexical vectors: no model, the same on every machine, tolerant of spelling. "
        "kb_search is better for nearly every question.",
        (
            Argument("query", "text", "Words.", required=True, longest=_LONGEST),
            Argument("top_k", "whole", "Rows to return.", default=5, low=1, high=1_000_000),
            _COLLECTION,
            _TYPE,
        ),
        schemas.VECTOR,
        _asking("vector", _NARROWED, "query"),
        rows="results",
        size="top_k",
    ),
    Operation(
        "chunks",
        "Find passages by vector",
        "Give the passages of one collection nearest in meaning to a question or a ready vector, with their text; needs an "
        "embedding model. For passages to quote use kb_ground.",
        (
            Argument("query", "text", "The question; or give vector.", longest=_LONGEST),
            Argument("collection", "text", "The collection.", required=True, longest=200),
            Argument("limit", "whole", "Passages to return.", default=5, low=1, high=100),
            Argument("vector", "numbers", "A vector of the base's own model."),
        ),
        schemas.CHUNKS,
        _chunks,
        rows="results",
        size="limit",
    ),
    Operation(
        "status",
        "State of the base",
        "Say what the base holds (collections, languages, files that failed) and whether its index is current. "
        "To see its sections use kb_tree.",
        (),
        schemas.STATUS,
        _asking("status"),
    ),
    Operation(
        "new",
        "Create a document",
        "Create a document in a collection that may be written to; it never replaces one and can be searched at once. "
        "Look with kb_search first whether there is one already.",
        (
            Argument("title", "text", "Title of the document.", required=True, longest=300),
            Argument("content", "text", "Its text, Markdown or HTML.", longest=1_000_000),
            Argument("slug", "text", "Its name in the address; derived from the title by default.", longest=200),
            Argument("parent", "text", "Id or path of the document it stands under.", longest=_LONGEST_ID),
            Argument("status", "text", "Its status; published by default.", longest=60),
            Argument("sort_order", "number", "Its place among its siblings.", low=-1e9, high=1e9),
            Argument("format", "text", "How the content is written.", default="md", choices=("md", "html")),
            _LANG,
            Argument("collection", "text", "The collection; needed where several may be written to.", longest=200),
        ),
        schemas.NEW,
        _asking("new", first="title"),
        writes=True,
    ),
)
_BY_NAME = {entry.name: entry for entry in _OPERATIONS}


def operations(*, writable: bool) -> tuple[Operation, ...]:
    """Return the operations in order; those that write only where the base has a collection that may be written to."""
    return tuple(entry for entry in _OPERATIONS if writable or not entry.writes)


def operation(name: str) -> Operation:
    """Return an operation by its name."""
    return _BY_NAME[name]


def writable(base: KnowledgeBase) -> bool:
    """Return whether documents may be created in the base."""
    return any(collection.writable for collection in base.config.collections)
