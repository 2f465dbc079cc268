"""The one useful next call after an answer, the same on every surface. Only ids that the answer holds are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kb.base import KnowledgeBase

Body = dict[str, Any]
Values = Mapping[str, Any]
Address = Callable[[str, "str | None"], str]
Call = tuple[str, Body]
_LISTED = dict.fromkeys(("collection", "type", "status", "since", "where", "glob"), None) | {"max_results": 25}
"""What a next page is asked for with, and what needs no mention."""
RAISED_CHARACTERS = 200_000
"""What `max_characters` is raised to where one line alone is longer than an answer may be."""


def follow(base: KnowledgeBase, name: str, body: Body, values: Values) -> Body:
    """Return an answer with its `next`, where there is one: `{"tool": "kb_section", "arguments": {…}}`."""
    chosen = _AFTER[name](body, values, base.address)
    if chosen is not None:
        tool, arguments = chosen
        following = {"tool": f"kb_{tool}", "arguments": arguments}
        if name != "ground" or _fits(body, following):
            body["next"] = following
    return body


def _fits(body: Body, following: Body) -> bool:
    """A pack of passages promises a number of characters, as it is printed; what is next may not break that."""
    import json

    whole = json.dumps({**body, "next": following}, ensure_ascii=False, indent=2)
    return bool(len(whole) < body["budget"])


def _read(row: Mapping[str, Any], address: Address) -> Call | None:
    """Return the call that reads a row's section, in the variant that the row speaks of."""
    if not row.get("id"):
        return None
    arguments: Body = {"id": address(row["id"], row.get("collection"))}
    if row.get("language") and len(row.get("languages") or ()) > 1:
        arguments["language"] = row["language"]
    return "section", arguments


def _first(rows: object, address: Address) -> Call | None:
    for row in rows if isinstance(rows, list) else []:
        call = _read(row, address)
        if call is not None:
            return call
    return None


def _search(body: Body, values: Values, address: Address) -> Call | None:
    return _first(body["results"], address) or ("tree", {"depth": 2})


def _section(body: Body, values: Values, address: Address) -> Call | None:
    if body.get("id") is None:
        return None
    id_ = address(body["id"], body.get("collection"))
    here: Body = {"id": id_, **({"language": values["language"]} if values.get("language") else {})}
    if "total_lines" in body:
        return _window(body, values, here)
    if body.get("truncated"):
        return "section", {**here, "raw": True, "offset": body.get("next_offset", 1)}
    if "front_matter" in body:
        return "section", here
    for other in (body.get("parent"), *(node["id"] for node in (*body["children"], *body["siblings"]))):
        if other:
            return "section", {**here, "id": address(other, body.get("collection"))}
    return "tree", {"id": id_}


def _window(body: Body, values: Values, here: Body) -> Call | None:
    following = body.get("next_offset")
    if following is None:
        return "section", here
    out = {**here, "raw": True, "offset": following}
    for name in ("limit", "numbered", "max_characters"):
        if values.get(name):
            out[name] = values[name]
    if body.get("truncated") and following == body["offset"]:
        out["max_characters"] = max(RAISED_CHARACTERS, 2 * int(values.get("max_characters") or 0))
    return "section", out


def _list(body: Body, values: Values, address: Address) -> Call | None:
    if body["truncated"] and body["results"]:
        kept = {name: values[name] for name in _LISTED if values.get(name) and values[name] != _LISTED[name]}
        return "list", {**kept, "offset": body["offset"] + len(body["results"])}
    return _first(body["results"], address)


def _tree(body: Body, values: Values, address: Address) -> Call | None:
    nodes = list(body["results"])
    first: Body | None = None
    while nodes:
        node = nodes.pop(0)
        if node.get("more"):
            return "tree", {
                "id": address(node["id"], node.get("collection")),
                **({"language": values["language"]} if values.get("language") else {}),
            }
        first = first or node
        nodes = [*node["children"], *nodes]
    return None if first is None else _read(first, address)


def _ground(body: Body, values: Values, address: Address) -> Call | None:
    return next((("section", {"id": id_}) for id_ in body["omitted"]["ids"]), None) or _first(body["passages"], address)


def _results(body: Body, values: Values, address: Address) -> Call | None:
    return _first(body.get("results"), address)


def _vector(body: Body, values: Values, address: Address) -> Call | None:
    call = _first(body["results"], address)
    return ("cite", call[1]) if call is not None and body["results"][0].get("type") == "clause" else call


def _chunks(body: Body, values: Values, address: Address) -> Call | None:
    for row in body.get("results") or ():
        return "section", {"id": f"{row['chunk_id'].rpartition(':')[0]}@{values['collection']}"}
    return None


def _status(body: Body, values: Values, address: Address) -> Call | None:
    return "tree", {"depth": 2}


def _new(body: Body, values: Values, address: Address) -> Call | None:
    return _read(body["doc"], address)


_AFTER: Mapping[str, Callable[[Body, Values, Address], Call | None]] = {
    "search": _search,
    "section": _section,
    "list": _list,
    "tree": _tree,
    "ground": _ground,
    "cite": lambda body, values, address: _read(body, address),
    "related": _results,
    "similar": _results,
    "vector": _vector,
    "chunks": _chunks,
    "status": _status,
    "new": _new,
}
