"""Arguments of an operation as they come in a query string, a path or a JSON body."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from kb.errors import ArgumentError
from kb.surfaces.operations.model import Argument, Operation

_FLAGS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
_WHOLE = re.compile(r"[+-]?\d{1,18}")


def from_query(asked: Operation, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return the arguments in a query string; lists are named once an item. ArgumentError names what is wrong."""
    given: dict[str, Any] = {}
    for name, text in pairs:
        argument = asked.argument(name)
        if argument is None:
            given[name] = text  # whoever checks the arguments says which are valid
        elif argument.kind in ("texts", "numbers"):
            given.setdefault(name, []).append(_value(argument, text))
        elif name in given:
            raise ArgumentError(f"{name} stands twice; it takes one value")
        else:
            given[name] = _value(argument, text)
    return given


def from_json(body: bytes) -> dict[str, Any]:
    """Return the arguments in a JSON body, an object; an empty body has none."""
    if not body.strip():
        return {}
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ArgumentError("the body is no valid JSON; send one object with the arguments") from error
    if not isinstance(given, dict):
        raise ArgumentError("the body must be one JSON object with the arguments")
    return given


def _value(argument: Argument, text: str) -> Any:
    kind = argument.kind
    if kind == "flag":
        if text.lower() not in _FLAGS:
            raise ArgumentError(f"{argument.name} must be true or false, got {text[:80]!r}")
        return _FLAGS[text.lower()]
    if kind == "whole":
        if not _WHOLE.fullmatch(text) or not text.isascii():
            raise ArgumentError(f"{argument.name} must be a whole number, got {text[:80]!r}")
        return int(text)
    if kind in ("number", "numbers"):
        try:
            return float(text)
        except ValueError as error:
            raise ArgumentError(f"{argument.name} must be a number, got {text[:80]!r}") from error
    return text
