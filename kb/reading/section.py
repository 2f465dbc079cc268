"""One section: by id or source path, with its text and neighbours, or a window of its raw lines."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from kb.answers import Node, RawWindow, SectionAnswer
from kb.config import Collection
from kb.errors import ArgumentError, BaseUnusable, NotFound
from kb.reading.checks import Window
from kb.reading.order import natural
from kb.reading.paths import breadcrumb
from kb.records import record

_SUGGESTIONS = 5
FAILED = "<failed to parse>"


@record
class Found:
    """A row of the catalog that an id or path led to."""

    section: int | None
    id: str | None
    title: str
    collection: str
    language: str | None
    parent: str | None
    document: int | None
    first: int
    last: int


def find(db: sqlite3.Connection, wanted: str, language: str | None) -> Found:
    """Return the section that an id or source path names. NotFound with suggestions, ArgumentError where it is not one."""
    rows = _by_id(db, wanted)
    if not rows and "@" in wanted:
        name, _, collection = wanted.rpartition("@")
        rows = [row for row in _by_id(db, name) if row.collection == collection]
    if not rows:
        return _by_source(db, wanted, language) or _unknown(db, wanted)
    collections = sorted({row.collection for row in rows})
    if len(collections) > 1:
        named = ", ".join(f"{wanted}@{collection}" for collection in collections)
        raise ArgumentError(f"{wanted} is in several collections; name one of: {named}")
    return _in_language(rows, language, wanted)


def _by_id(db: sqlite3.Connection, wanted: str) -> list[Found]:
    found = _rows(db, "s.id = ?", wanted) or _rows(db, "lower(s.id) = lower(?)", wanted)
    if found or wanted.isascii():
        return found
    # SQLite folds the case of ASCII letters only.
    ids = (row[0] for row in db.execute("SELECT DISTINCT id FROM sections ORDER BY id"))
    return [row for id_ in ids if id_.casefold() == wanted.casefold() for row in _rows(db, "s.id = ?", id_)]


def _rows(db: sqlite3.Connection, condition: str, wanted: str) -> list[Found]:
    """Return the sections of a condition; those of documents in the default language, which lie flat, come first."""
    rows = db.execute(
        "SELECT s.section, s.id, s.title, s.collection, s.language, s.parent, s.document, s.first, s.last"
        f" FROM sections s LEFT JOIN documents d USING (document) WHERE {condition}"
        " ORDER BY s.document IS NULL, d.source != d.variant, d.source, s.ordinal",
        (wanted,),
    )
    return [Found(*row) for row in rows]


def _in_language(rows: list[Found], language: str | None, wanted: str) -> Found:
    held = sorted({row.language for row in rows if row.language})
    if language is not None:
        for row in rows:
            if row.language == language:
                return row
        raise NotFound(f"{wanted} has no variant in {language!r}; there are: {', '.join(held) or 'none'}")
    return rows[0]


def _by_source(db: sqlite3.Connection, wanted: str, language: str | None) -> Found | None:
    rows = _documents(db, "d.source = ?", wanted)
    if not rows and "@" in wanted:
        source, _, collection = wanted.rpartition("@")
        rows = _documents(db, "d.source = ? AND d.collection = ?", source, collection)
    if len(rows) > 1:
        named = ", ".join(f"{wanted}@{found.collection}" for found, _ in rows)
        raise ArgumentError(f"{wanted} is in several collections; name one of: {named}")
    if not rows:
        return None
    found, variant = rows[0]
    if language is None or found.language == language:
        return found
    variants = [other for other, _ in _documents(db, "d.variant = ? AND d.collection = ?", variant, found.collection)]
    return _in_language(variants, language, wanted)


def _documents(db: sqlite3.Connection, condition: str, *values: str) -> list[tuple[Found, str]]:
    """Return the root sections of documents, those that failed without an id, each with the path its variants share."""
    rows = db.execute(
        "SELECT s.section, s.id, coalesce(s.title, d.title), d.collection, d.language, s.parent, d.document,"
        " coalesce(s.first, 1), coalesce(s.last, 0), d.variant"
        " FROM documents d LEFT JOIN sections s ON s.document = d.document AND s.ordinal = 0"
        f" WHERE {condition} ORDER BY d.collection, d.source",
        values,
    )
    return [(Found(*row[:-1]), row[-1]) for row in rows]


def _unknown(db: sqlite3.Connection, wanted: str) -> Found:
    raise NotFound(f"section not found: {wanted}", suggestions(db, wanted))


def suggestions(db: sqlite3.Connection, wanted: str) -> tuple[str, ...]:
    """Return the ids nearest to one that is not there: those under the same prefix first, then by spelling."""
    import difflib  # on use: only an unknown id needs it

    folded = wanted.lower()
    head = re.match(r"[^.:#/]+", folded)
    ids = [
        row[0]
        for row in db.execute("SELECT DISTINCT id FROM sections WHERE hit = section OR document IS NULL ORDER BY id LIMIT 20000")
    ]

    def rank(id_: str) -> tuple[bool, float, tuple[tuple[int, int, str], ...]]:
        other = id_.lower()
        same = bool(head) and other.startswith(head.group() if head else "")
        return (not same, -difflib.SequenceMatcher(None, folded, other).ratio(), natural(id_))

    near = sorted(ids, key=rank)[:_SUGGESTIONS]
    return tuple(id_ for id_ in near if rank(id_)[1] <= -0.3)


def section(db: sqlite3.Connection, collections: dict[str, Collection], found: Found) -> SectionAnswer:
    """Return a section's text and neighbours."""
    document = _document(db, found)
    if document is not None and document["error"]:
        return _failed(found, document)
    body = _body(db, collections, found, document) if document is not None else ""
    languages = tuple(
        row[0]
        for row in db.execute(
            "SELECT DISTINCT language FROM sections WHERE id = ? AND collection = ? AND language IS NOT NULL ORDER BY 1",
            (found.id, found.collection),
        )
    )
    siblings = children(db, found.collection, found.parent, found.language) if found.parent is not None else []
    return SectionAnswer(
        id=found.id,
        title=found.title,
        path=breadcrumb(db, found.collection, found.id or "", found.title, found.parent, found.language),
        body=body,
        parent=found.parent,
        children=tuple(children(db, found.collection, found.id, found.language)),
        siblings=tuple(node for node in siblings if node.id != found.id),
        word_count=len(body.split()),
        language=found.language,
        languages=languages,
        collection=found.collection,
        type=document["type"] if document is not None else None,
        status=document["status"] if document is not None else None,
        source=document["source"] if document is not None else None,
        lines=(found.first, found.last) if document is not None and found.last >= found.first else None,
    )


def raw(db: sqlite3.Connection, collections: dict[str, Collection], found: Found, window: Window) -> RawWindow:
    """Return lines of a section's body as they stand in the file. Windows put together give the whole."""
    document = _document(db, found)
    if document is None:
        return RawWindow(found.id, "", window.offset, (), 0, window.numbered)
    text = _text(collections, found, document)
    lines = _lines(text)[_first(found, document) - 1 : found.last if found.id is not None else None]
    start = window.offset - 1
    chosen = lines[start:] if window.limit is None else lines[start : start + window.limit]
    return RawWindow(found.id, document["source"], window.offset, tuple(chosen), len(lines), window.numbered)


def children(db: sqlite3.Connection, collection: str, parent: str | None, language: str | None) -> list[Node]:
    """Return the nodes under a parent in natural order, `sort_order` first; one a language-independent id."""
    rows = db.execute(
        "SELECT s.id, s.title, s.language, d.sort_order, s.dotted, s.ordinal, s.document FROM sections s"
        " LEFT JOIN documents d USING (document) WHERE s.collection = ? AND s.parent IS ?"
        " ORDER BY s.document IS NULL, d.source != d.variant, d.source, s.ordinal",
        (collection, parent),
    ).fetchall()
    by_id: dict[str, tuple[object, ...]] = {}
    for row in rows:
        held = by_id.get(row[0])
        if held is None or (row[2] == language and held[2] != language):
            by_id[row[0]] = row

    def key(row: tuple[object, ...]) -> tuple[object, ...]:
        order = row[3] if row[5] == 0 else None
        # Headings of one document without identifiers stand in the order of the document; their ids begin with its id.
        name, place = (row[0], 0) if row[4] or row[5] == 0 else (str(row[0]).partition("#")[0], row[5])
        return (order is None, order or 0, not row[4], natural(str(name)), place, str(row[0]))

    return [Node(str(row[0]), str(row[1])) for row in sorted(by_id.values(), key=key)]


def _document(db: sqlite3.Connection, found: Found) -> dict[str, str] | None:
    if found.document is None:
        return None
    names = ("source", "type", "status", "error", "body_line", "collection", "warnings")
    row = db.execute(f"SELECT {','.join(names)} FROM documents WHERE document = ?", (found.document,)).fetchone()
    return None if row is None else dict(zip(names, row, strict=True))


def _failed(found: Found, document: dict[str, str]) -> SectionAnswer:
    return SectionAnswer(
        id=None, title=FAILED, path=FAILED, body="", parent=None, children=(), siblings=(), word_count=0, language=None,
        languages=(), collection=found.collection, type=document["type"], status=FAILED, source=document["source"],
        lines=None, error=document["error"],
    )  # fmt: skip


def _body(db: sqlite3.Connection, collections: dict[str, Collection], found: Found, document: dict[str, str]) -> str:
    if Path(document["source"]).suffix.lower() in (".html", ".htm"):
        return _html_body(db, found)
    lines = _lines(_text(collections, found, document))
    return "".join(lines[_first(found, document) - 1 : found.last]).strip("\n")


def _html_body(db: sqlite3.Connection, found: Found) -> str:
    """Return the readable text of an HTML section: titles as Markdown headings, blocks as they were indexed."""
    out: list[str] = []
    for title, level, first, section_ in db.execute(
        "SELECT title, level, first, section FROM sections WHERE document = ? AND first >= ? AND last <= ? ORDER BY ordinal",
        (found.document, found.first, found.last),
    ).fetchall():
        if level:
            out.append(f"{'#' * level} {title}")
        del first
        out.extend(
            row[0]
            for row in db.execute("SELECT text FROM passages WHERE section = ? AND text != '' ORDER BY passage", (section_,))
        )
    return "\n\n".join(out)


def _first(found: Found, document: dict[str, str]) -> int:
    """Return the line where a section's body begins; the root's begins after the front matter."""
    return max(found.first, int(document["body_line"])) if found.id is not None else 1


def _text(collections: dict[str, Collection], found: Found, document: dict[str, str]) -> str:
    from kb.documents.decode import NotText, decode  # on use: only reading needs them
    from kb.documents.read import content

    collection = collections.get(found.collection)
    if collection is None:
        raise BaseUnusable(f"collection {found.collection!r} is no longer part of the base; run: kb index")
    data, problem = content(collection.root, document["source"])
    if problem is not None:
        raise BaseUnusable(f"{document['source']}: {problem.error}; run: kb index")
    try:
        return decode(document["source"], data).text
    except NotText as error:
        raise BaseUnusable(f"{document['source']}: {error}; run: kb index") from error


def _lines(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)
