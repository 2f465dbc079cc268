"""`kb vector`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from kb.base import KnowledgeBase
from kb.surfaces import text
from kb.surfaces.arguments import command, emit, plain

if TYPE_CHECKING:
    from kb.reading.likeness import VectorAnswer


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = command(commands, "vector", "list the sections nearest by lexical vectors: no model, the same everywhere", _run)
    parser.add_argument("query", metavar="QUERY", help="words to compare with")
    parser.add_argument("--top-k", type=int, default=5, metavar="N", help="sections to return, 1 or more (default 5)")
    parser.add_argument("--collection", action="append", default=[], metavar="C", help="only this collection (may be repeated)")
    parser.add_argument("--type", action="append", default=[], metavar="T", help="only documents of this type (may be repeated)")


def _run(base: KnowledgeBase, options: argparse.Namespace) -> int:
    answer = base.vector(plain(options.query), top_k=options.top_k, collections=options.collection, types=options.type)
    emit(options, answer.as_json(), lambda: _lines(answer), base)
    return 0 if answer.results else 1


def _lines(answer: VectorAnswer) -> str:
    rows = [
        f"{number}. {text.one_line(str(row['path']))}  [{text.one_line(str(row['id']))}]  {row['score']:.3f}\n"
        for number, row in enumerate(answer.results, 1)
    ]
    return "".join(rows) + f"{answer.disclaimer}\n" if rows else "nothing found\n"
