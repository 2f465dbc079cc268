"""The tree of a base, or what lies under one node of it."""

from __future__ import annotations

import sqlite3

from kb.answers import Node, TreeNode
from kb.reading.section import children

_DEEPEST = 64


def tree(db: sqlite3.Connection, collections: list[str], root: tuple[str, str, str] | None, depth: int) -> list[TreeNode]:
    """Return the top nodes of collections, or one node given as (collection, id, title), each `depth` levels deep."""
    if root is not None:
        collection, id_, title = root
        return [_node(db, collection, Node(id_, title), depth, frozenset())]
    return [
        _node(db, collection, node, depth - 1, frozenset())
        for collection in collections
        for node in children(db, collection, None, None)
    ]


def _node(db: sqlite3.Connection, collection: str, node: Node, depth: int, above: frozenset[str]) -> TreeNode:
    below = [] if node.id in above or len(above) > _DEEPEST else children(db, collection, node.id, None)
    if depth <= 0:
        return TreeNode(node.id, node.title, collection, (), len(below))
    inside = above | {node.id}
    return TreeNode(node.id, node.title, collection, tuple(_node(db, collection, child, depth - 1, inside) for child in below))
