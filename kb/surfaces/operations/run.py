"""One way through an operation, whoever asks: check the arguments, ask the base, keep the answer small, choose what is next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kb.errors import KBError
from kb.surfaces.operations.bounds import BODY_OFFSET, bounded
from kb.surfaces.operations.following import follow
from kb.surfaces.operations.model import Body, Operation
from kb.surfaces.operations.registry import operation

if TYPE_CHECKING:
    from kb.base import KnowledgeBase


def run(base: KnowledgeBase, asked: Operation, given: Mapping[str, Any], characters: int | None = None) -> Body:
    """Return the answer to one operation, as JSON-ready values. KBError where it can't be had.

    `characters`: how long the answer may be as JSON where the caller does not say so by `max_characters`.
    """
    values = asked.checked(given)
    body = asked.call(base, values)
    most = values.get("max_characters") or characters
    if most is not None:
        body = bounded(asked, body, values, most)
    body.pop(BODY_OFFSET, None)
    return follow(base, asked.name, body, values)


def run_named(base: KnowledgeBase, name: str, values: Mapping[str, Any]) -> Body:
    """Return the answer to the operation of a name; values that it knows nothing of, or that are empty, don't count."""
    asked = operation(name)
    return run(base, asked, {a.name: values[a.name] for a in asked.arguments if values.get(a.name) not in (None, False, [])})


def error_body(error: KBError) -> Body:
    """Return the error as JSON-ready values: one line, and the nearest ids where there are some."""
    body: Body = {"error": " ".join(str(error).split())}
    suggestions = getattr(error, "suggestions", None)
    if suggestions is not None:
        body["suggestions"] = list(suggestions)
    return body
