"""`kb list` and `kb tree`."""

from __future__ import annotations

import argparse
from typing import Any

from kb.base import KnowledgeBase
from kb.errors import ArgumentError
from kb.surfaces import text
from kb.surfaces.arguments import bound, command, emit, filters, plain


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    listing = command(commands, "list", "list the sections", _list)
    filters(listing)
    listing.add_argument("--since", metavar="DATE", help="updated on this day (YYYY-MM-DD) or later, by front matter")
    listing.add_argument("--where", action="append", default=[], metavar="K=V", help="front matter key with this value")
    listing.add_argument("--glob", metavar="PATTERN", help="only source files that match, such as 'notes/*.md'")
    listing.add_argument("--offset", type=int, default=0, metavar="N", help="rows to skip (default 0)")
    listing.add_argument("--max-results", type=int, default=25, metavar="N", help="rows to return, 1 to 100 (default 25)")

    tree = command(commands, "tree", "show the tree of sections", _tree)
    tree.add_argument("id", nargs="?", metavar="ID", help="only what lies under this section")
    tree.add_argument("--depth", type=int, default=3, metavar="N", help="levels to show, 1 to 64 (default 3)")
    tree.add_argument("--language", metavar="XX", help="titles in this language where there are any")
    bound(tree)


def _list(base: KnowledgeBase, options: argparse.Namespace) -> int:
    answer = base.list(
        collections=options.collection,
        types=options.type,
        status=options.status,
        since=options.since,
        where=[_pair(item) for item in options.where],
        glob=options.glob,
        offset=options.offset,
        max_results=options.max_results,
    )
    emit(options, answer.as_json(), lambda: text.listing(answer), base)
    return 0 if answer.rows else 1


def _tree(base: KnowledgeBase, options: argparse.Namespace) -> int:
    nodes = base.tree(None if options.id is None else plain(options.id), depth=options.depth, language=options.language)
    emit(options, {"results": [node.as_json() for node in nodes]}, lambda: text.tree(nodes), base)
    return 0 if nodes else 1


def _pair(item: str) -> tuple[str, str]:
    key, equals, value = item.partition("=")
    if not equals or not key:
        raise ArgumentError(f"--where needs key=value, got {item!r}")
    return key, value
