"""Answers that stay small: what does not fit is left out, and the answer says so and how to get the rest."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from itertools import accumulate
from typing import Any

from kb.surfaces.operations.model import Body, Operation, Values

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NEXT = 1200
"""Characters kept free for `next`: an id has 512 at most, and some need escaping."""
BODY_OFFSET = "_body_offset"
"""Where the body of a section begins among its raw lines, so that reading can go on there; never part of an answer."""
_KEPT = ("id", "source", "collection", "chunk_id")
"""What is never cut: a shortened id leads nowhere."""
_SHORT = 40
_STEPS = 400
_NEIGHBOURS = 50
"""Children or siblings that stand in a bounded section; the tree holds them all."""
_RAISED = 5
"""How far an answer may grow where the caller asked for more rows than by default."""


def length(value: Any) -> int:
    """Return how many characters a value has as JSON."""
    return len(json.dumps(value, ensure_ascii=False))


def bounded(asked: Operation, body: Body, values: Values, most: int) -> Body:
    """Return an answer of at most `most` characters as JSON, `truncated` where it had more."""
    argument = asked.argument(asked.size) if asked.size else None
    if argument is not None and "max_characters" not in values and values.get(argument.name, 0) > (argument.default or 0):
        most *= _RAISED
    if length(body) <= most - _NEXT:
        return body
    room = most - _NEXT
    if "text" in body and "total_lines" in body:
        return _window(body, room)
    if "body" in body:
        return _section(body, room)
    if asked.name == "tree":
        return _tree(body, room)
    if asked.rows is not None and asked.rows in body:
        return _rows(body, asked.rows, room)
    return _texts(body, room)


def _section(body: Body, room: int) -> Body:
    out = {key: value for key, value in body.items() if key != BODY_OFFSET}
    for name in ("children", "siblings"):
        if len(out.get(name, ())) > _NEIGHBOURS:
            out[f"{name}_omitted"] = len(out[name]) - _NEIGHBOURS
            out[name] = out[name][:_NEIGHBOURS]
    out["body"] = ""
    while length(out) > room // 2 and (out["siblings"] or out["children"]):
        name = "siblings" if out["siblings"] else "children"
        keep = len(out[name]) // 2
        out[f"{name}_omitted"] = out.get(f"{name}_omitted", 0) + len(out[name]) - keep
        out[name] = out[name][:keep]
    out = _texts(out, room // 2)
    shown, lines = _fit(body["body"], room - length(out))
    out["body"] = shown
    if len(shown) < len(body["body"]):
        out["truncated"] = True
        out["next_offset"] = body.get(BODY_OFFSET, 1) + lines if BODY_OFFSET in body else 1
    return out


def _window(body: Body, room: int) -> Body:
    out = {**body, "text": ""}
    shown, lines = _fit(body["text"], room - length(out))
    out["text"] = shown
    if len(shown) < len(body["text"]):
        out["truncated"] = True
        out["limit"] = lines
        # A line longer than all the room there is can't be continued inside: it takes a larger max_characters.
        out["next_offset"] = body["offset"] + lines
    return out


def _fit(text: str, room: int) -> tuple[str, int]:
    """Return the whole lines that fit, and how many; the beginning of the first line and 0 where not even that one does."""
    lines = _LINE.findall(text)
    ends = list(accumulate(length(line) - 2 for line in lines))
    fitting = bisect_right(ends, room)
    if fitting:
        return "".join(lines[:fitting]), fitting
    first = lines[0] if lines else ""
    characters = list(accumulate(length(char) - 2 for char in first[: max(room, 0)]))
    return first[: bisect_right(characters, room)], 0


def _tree(body: Body, room: int) -> Body:
    """Return the tree as many whole levels deep as fit, and of the next level the first branches that do."""
    depth = max((_depth(node) for node in body["results"]), default=0)
    out = {**body, "results": body["results"]}
    while depth > 0 and length(out) > room:
        depth -= 1
        out["results"] = [_pruned(node, depth) for node in body["results"]]
        out["truncated"] = True
    rest = room - length(out)
    if rest < 0:
        return _rows(out, "results", room)
    for full, short in zip(_level(body["results"], depth), _level(out["results"], depth), strict=True):
        opened = _pruned(full, 1)
        cost = length(opened) - length(short)
        if 0 < cost <= rest:
            rest -= cost
            short.pop("more", None)
            short.update(opened)
    return out


def _level(nodes: list[Body], depth: int) -> list[Body]:
    return nodes if depth == 0 else [below for node in nodes for below in _level(node["children"], depth - 1)]


def _depth(node: Body) -> int:
    return 1 + max((_depth(child) for child in node["children"]), default=-1)


def _pruned(node: Body, depth: int) -> Body:
    if depth == 0:
        hidden = len(node["children"]) or node.get("more", 0)
        return {**node, "children": [], **({"more": hidden} if hidden else {})}
    return {**node, "children": [_pruned(child, depth - 1) for child in node["children"]]}


def _rows(body: Body, name: str, room: int) -> Body:
    out = {**body, name: []}
    rest = room - length(out)
    for row in body[name]:
        short = row if length(row) <= rest or out[name] else _texts(row, rest)
        rest -= length(short) + 2
        if rest < 0:
            break
        out[name].append(short)
    out["truncated"] = True
    return out if length(out) <= room else _texts(out, room)


def _texts(body: Body, room: int) -> Body:
    """Return a body whose longest texts and lists are cut until it fits."""
    out = dict(body)
    for _ in range(_STEPS):
        if length(out) <= room:
            break
        sizes = {key: length(value) for key, value in out.items() if isinstance(value, (str, list, dict)) and key not in _KEPT}
        if not sizes or max(sizes.values()) <= _SHORT:
            break
        name = max(sizes, key=lambda key: sizes[key])
        out[name] = _halved(out[name])
        out["truncated"] = True
    return out


def _halved(value: Any) -> Any:
    if isinstance(value, str):
        return value[: len(value) // 2] + "…"
    if isinstance(value, list) and len(value) > 1:
        return value[: len(value) // 2]
    if isinstance(value, list):
        return [_halved(item) for item in value]
    if isinstance(value, dict):
        return _texts(value, max(length(value) // 2, _SHORT))
    return value
