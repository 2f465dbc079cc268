"""Arguments that are refused before any file is touched: ids, languages, windows of lines."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from kb.errors import ArgumentError
from kb.records import record

if TYPE_CHECKING:
    import sqlite3

_LONGEST_ID = 512
_CONTROL = r"[\x00-\x1f\x7f\ud800-\udfff]"
"""Control characters, and halves of surrogate pairs, which no file and no index can hold."""
_LANGUAGE = r"[a-z]{2,3}"
_MOST_NAMED = 20


@record
class Window:
    """Which raw lines to give: from `offset` (1-based, clamped to 1), at most `limit` of them."""

    offset: int = 1
    limit: int | None = None
    numbered: bool = False


def check_id(id_: str) -> str:
    """Return an id that may be looked up; ArgumentError for one that can't be an id of any base."""
    if not isinstance(id_, str) or not id_.strip():
        raise ArgumentError("an id may not be empty")
    if len(id_) > _LONGEST_ID:
        raise ArgumentError(f"an id may have {_LONGEST_ID} characters at most, got {len(id_)}")
    if re.search(_CONTROL, id_):
        raise ArgumentError("an id may not hold control characters or halves of surrogate pairs")
    if ".." in re.split(r"[/\\]", id_) or id_.startswith(("/", "\\", "~")):
        raise ArgumentError(f"not an id or a source path inside the base: {id_}")
    return unicodedata.normalize("NFC", id_.strip())


def check_language(language: str | None) -> str | None:
    """Return a language code that may be looked up; ArgumentError for one that is malformed."""
    if language is not None and not re.fullmatch(_LANGUAGE, language):
        raise ArgumentError(f"not a language code: {language!r}; write two lower-case letters, such as 'de'")
    return language


def check_held(db: sqlite3.Connection, column: str, *wanted: str | None) -> None:
    """Raise ArgumentError where no document has one of the values (of `type`, `status` or `language`); None is no value."""
    if not any(value is not None for value in wanted):
        return
    rows = db.execute(f"SELECT DISTINCT {column} FROM documents WHERE {column} IS NOT NULL ORDER BY 1")
    held = [row[0] for row in rows]
    for value in wanted:
        if value is not None and value not in held:
            more = f" and {len(held) - _MOST_NAMED} more" if len(held) > _MOST_NAMED else ""
            raise ArgumentError(f"unknown {column} {value!r}; there are: {', '.join(held[:_MOST_NAMED]) or 'none'}{more}")


def check_window(raw: bool, offset: int | None, limit: int | None, numbered: bool | None) -> Window | None:
    """Return the window asked for, None without `raw`; ArgumentError where the arguments don't fit together."""
    if not raw:
        if offset is not None or limit is not None:
            raise ArgumentError(f"offset/limit are only valid with raw=True, got offset={offset}, limit={limit}")
        if numbered:
            raise ArgumentError(f"numbered is only valid with raw=True, got numbered={numbered}")
        return None
    for name, value in (("offset", offset), ("limit", limit)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise ArgumentError(f"{name} must be a whole number, got {value!r}")
    return Window(max(offset if offset is not None else 1, 1), None if limit is None else max(limit, 0), bool(numbered))
