"""Gold questions: what was asked, and which sections or files answer it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kb.base import KnowledgeBase
from kb.errors import ArgumentError
from kb.ranking.query import LONGEST


@dataclass(frozen=True, slots=True)
class Question:
    """One line of a gold file. `relevant`: ids or source files; empty where nothing may answer. `line` counts from 1."""

    id: str
    query: str
    relevant: tuple[str, ...]
    class_: str | None
    language: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Unit:
    """What counts as one answer: a section (`by` is `id`) or a file (`source`) of a collection."""

    collection: str
    name: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with the units that answer it, found in the base. Hits are folded into units by `by`."""

    question: Question
    by: str
    units: frozenset[Unit]


def load(path: Path) -> tuple[Question, ...]:
    """Read a gold file: one JSON object a line, `{id, query, relevant, class, language}`; blank lines are skipped.

    `class` and `language` may be left out or null; further keys are ignored. Raises ArgumentError that names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise ArgumentError(f"gold file not found: {path}") from error
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ArgumentError(f"gold file can't be read: {path}: {reason}") from error
    questions: list[Question] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        question = _question(f"{path}:{number}", line, number)
        if question.id in seen:
            raise ArgumentError(f"{path}:{number}: id {question.id!r} stands in line {seen[question.id]} too; ids must differ")
        seen[question.id] = number
        questions.append(question)
    if not questions:
        raise ArgumentError(f"{path} holds no question; write one JSON object a line: id, query, relevant, class, language")
    return tuple(questions)


def _question(where: str, line: str, number: int) -> Question:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{where}: not valid JSON: {error}") from error
    if not isinstance(data, dict):
        raise ArgumentError(f"{where}: must be an object with id, query and relevant")
    id_, query = _text(where, data, "id"), _text(where, data, "query")
    if len(query) > LONGEST:
        raise ArgumentError(f"{where}: query has {len(query)} characters; {LONGEST} at most")
    relevant = data.get("relevant")
    if not isinstance(relevant, list) or not all(isinstance(item, str) and item.strip() for item in relevant):
        raise ArgumentError(f"{where}: relevant must be a list of ids or source files, got {relevant!r}")
    return Question(id_, query, tuple(relevant), _label(where, data, "class"), _label(where, data, "language"), number)


def _text(where: str, data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ArgumentError(f"{where}: {key} must be a text that is not empty, got {value!r}")
    return _sound(where, key, value.strip())


def _label(where: str, data: dict[str, Any], key: str) -> str | None:
    value = data.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise ArgumentError(f"{where}: {key} must be a text that is not empty, got {value!r}")
    return None if value is None else _sound(where, key, value.strip())


def _sound(where: str, key: str, value: str) -> str:
    if any("\ud800" <= char <= "\udfff" for char in value):
        raise ArgumentError(f"{where}: {key} holds half of a surrogate pair")
    return value


def judge(
    base: KnowledgeBase, questions: Sequence[Question], path: Path, *, collections: Sequence[str] = ()
) -> tuple[Judged, ...]:
    """Find in the base what each question's `relevant` names.

    Raises ArgumentError with file and line where the base does not hold a name, where several collections do, or where a
    question mixes ids and files.
    """
    names = list(dict.fromkeys(name for question in questions for name in question.relevant))
    places = dict(zip(names, base.places(names, collections=collections), strict=True))
    out = []
    for question in questions:
        where = f"{path}:{question.line}"
        units: set[Unit] = set()
        kinds: set[str] = set()
        for name in question.relevant:
            found = places[name]
            if not found:
                scope = f" (in collection {', '.join(collections)})" if collections else ""
                raise ArgumentError(f"{where}: the base holds no section or file {name!r}{scope}; correct relevant")
            holders = list(dict.fromkeys(place.collection for place in found))
            if len(holders) > 1:
                raise ArgumentError(f"{where}: {name!r} is in several collections; write {_choices(name, holders)}")
            kinds.add(found[0].by)
            units.update(Unit(place.collection, place.id if place.by == "id" else place.source) for place in found)
        if len(kinds) > 1:
            raise ArgumentError(f"{where}: relevant mixes section ids and source files; write one kind")
        out.append(Judged(question, kinds.pop() if kinds else "id", frozenset(units)))
    return tuple(out)


def _choices(name: str, collections: Sequence[str]) -> str:
    return " or ".join(f"{name}@{collection}" for collection in collections)


def half(question: Question) -> str:
    """Return the half a question belongs to: `test` where the CRC-32 of its id (UTF-8) is odd, else `dev`."""
    return "test" if zlib.crc32(question.id.encode("utf-8")) & 1 else "dev"
