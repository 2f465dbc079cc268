"""`kb search`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from kb.base import KnowledgeBase
from kb.surfaces import text
from kb.surfaces.arguments import command, emit, filters, plain


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = command(commands, "search", "find sections that answer a question", _run)
    parser.add_argument("query", metavar="QUERY", help='words, a question, an id; "phrases" must occur, -word excludes')
    parser.add_argument("--limit", type=int, default=5, metavar="N", help="sections to return, 1 to 50 (default 5)")
    parser.add_argument("--offset", type=int, default=0, metavar="N", help="sections to skip (default 0)")
    parser.add_argument("--semantic", action="store_true", help="search by meaning too, with an embedding model")
    filters(parser)
    parser.add_argument("--language", metavar="XX", help="only documents in this language, such as de")
    parser.add_argument("--explain", action="store_true", help="show what each term adds to the score")


def _run(base: KnowledgeBase, options: argparse.Namespace) -> int:
    answer = base.search(
        plain(options.query),
        limit=options.limit,
        offset=options.offset,
        collections=options.collection,
        types=options.type,
        status=options.status,
        language=options.language,
        semantic=options.semantic,
        explain=options.explain,
    )
    emit(options, answer.as_json(), lambda: text.search(answer, sys.stdout.isatty()), base)
    if answer.warning:
        sys.stderr.write(f"kb: {text.one_line(answer.warning)}\n")
    return 0 if answer.results else 1
