"""The tree of a base, or what lies under one node of it."""

from __future__ import annotations

import sqlite3

from kb.answers import Node, TreeNode
from kb.reading.section import children

_DEEPEST = 64


def tree(
    db: sqlite3.Connection,
    collections: list[str],
    root: tuple[str, str, str] | None,
    depth: int,
    language: str | None = None,
) -> list[TreeNode]:
    """Return the top nodes of collections, or one node given as (collection, id, title), each `depth` levels deep.

    Titles are those of the variants in `language`, where there are any.
    """
    if root is not None:
        collection, id_, title = root
        row = db.execute(
            "SELECT title FROM sections WHERE id = ? AND collection = ? AND language = ?", (id_, collection, language)
        ).fetchone()
        title = title if row is None else str(row[0])
        return [_node(db, collection, Node(id_, title), depth, frozenset(), language)]
    return [
        _node(db, collection, node, depth - 1, frozenset(), language)
        for collection in collections
        for node in children(db, collection, None, language)
    ]


def _node(
    db: sqlite3.Connection, collection: str, node: Node, depth: int, above: frozenset[str], language: str | None
) -> TreeNode:
    below = [] if node.id in above or len(above) > _DEEPEST else children(db, collection, node.id, language)
    if depth <= 0:
        return TreeNode(node.id, node.title, collection, (), len(below))
    inside = above | {node.id}
    return TreeNode(
        node.id, node.title, collection, tuple(_node(db, collection, child, depth - 1, inside, language) for child in below)
    )
