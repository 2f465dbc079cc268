"""Lists of hit-level sections, filtered, one row an id, in natural order; files that failed are rows too."""

from __future__ import annotations

import fnmatch
import json
import re
import sqlite3
from collections.abc import Iterable, Sequence

from kb.answers import ListAnswer, Row
from kb.errors import ArgumentError
from kb.reading.order import natural
from kb.reading.paths import breadcrumb
from kb.reading.section import FAILED
from kb.records import record

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATES = ("updated", "updated_at", "date", "created", "created_at", "as_of")


@record
class Selection:
    """What a list holds. `since` is a date YYYY-MM-DD, `where` pairs of front matter key and value, `glob` a source pattern."""

    collections: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    status: str | None = None
    since: str | None = None
    where: tuple[tuple[str, str], ...] = ()
    glob: str | None = None


def check(selection: Selection, offset: int, max_results: int) -> None:
    """Raise ArgumentError where a list can't be asked for so."""
    if selection.since is not None and not _DATE.fullmatch(selection.since):
        raise ArgumentError(f"since must be a date like 2026-11-30, got {selection.since!r}")
    if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
        raise ArgumentError(f"offset must be 0 or more, got {offset}")
    if isinstance(max_results, bool) or not isinstance(max_results, int) or not 1 <= max_results <= 100:
        raise ArgumentError(f"max_results must be from 1 to 100, got {max_results}")


def listing(db: sqlite3.Connection, selection: Selection, offset: int, max_results: int) -> ListAnswer:
    """Return one page of the sections selected."""
    failed = [row for row in _failed(db) if _wanted(row, selection)]
    held: dict[tuple[str, str], list[sqlite3.Row | tuple[object, ...]]] = {}
    for row in db.execute(
        "SELECT s.id, s.title, s.collection, d.type, d.status, s.language, d.source, d.front, s.parent, d.sort_order,"
        " d.variant = d.source FROM sections s JOIN documents d USING (document) WHERE s.hit = s.section"
    ):
        if _wanted(row, selection):
            held.setdefault((row[2], row[0]), []).append(row)
    ordered = sorted(held.values(), key=lambda rows: (rows[0][2], natural(str(rows[0][0])), str(rows[0][0])))
    total = len(failed) + len(ordered)
    window = [*failed, *ordered][offset : offset + max_results]
    return ListAnswer(
        tuple(_row(db, entry) if isinstance(entry, list) else _failed_row(entry) for entry in window),
        total,
        offset,
        offset + len(window) < total,
        len(failed),
    )


def _failed(db: sqlite3.Connection) -> list[tuple[object, ...]]:
    return db.execute(
        "SELECT NULL, title, collection, type, status, language, source, front, error FROM documents"
        " WHERE error IS NOT NULL ORDER BY collection, source"
    ).fetchall()


def _wanted(row: Sequence[object], selection: Selection) -> bool:
    if selection.collections and row[2] not in selection.collections:
        return False
    if selection.types and row[3] not in selection.types:
        return False
    if selection.status is not None and row[4] != selection.status and not (row[0] is None and selection.status == FAILED):
        return False
    if selection.glob is not None and not fnmatch.fnmatchcase(str(row[6]), selection.glob):
        return False
    if selection.since is None and not selection.where:
        return True
    front = json.loads(str(row[7]))
    if selection.since is not None:
        dates = [str(front[key])[:10] for key in _DATES if _DATE.match(str(front.get(key, "")))]
        if not dates or dates[0] < selection.since:
            return False
    return all(_holds(front.get(key), value) for key, value in selection.where)


def _holds(held: object, value: str) -> bool:
    if isinstance(held, list):
        return any(_holds(item, value) for item in held)
    if isinstance(held, bool):
        return str(held).lower() == value.lower()
    return held is not None and str(held) == value


def _row(db: sqlite3.Connection, rows: Iterable[Sequence[object]]) -> Row:
    # The variant in the default language lies flat; failing that the first language.
    variants = sorted(rows, key=lambda row: (not row[10], str(row[5])))
    first = variants[0]
    id_, title, collection, type_, status, language, source = first[:7]
    return Row(
        id=str(id_),
        title=str(title),
        collection=str(collection),
        type=None if type_ is None else str(type_),
        status=None if status is None else str(status),
        language=str(language),
        languages=tuple(sorted({str(row[5]) for row in variants})),
        source=str(source),
        path=breadcrumb(db, str(collection), str(id_), str(title), None if first[8] is None else str(first[8]), str(language)),
    )


def _failed_row(row: Sequence[object]) -> Row:
    return Row(
        None,
        FAILED,
        str(row[2]),
        None if row[3] is None else str(row[3]),
        FAILED,
        None,
        (),
        str(row[6]),
        FAILED,
        str(row[8]),
    )
