"""`kb ground`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from kb.base import KnowledgeBase
from kb.surfaces import text
from kb.surfaces.arguments import command, emit, filters, plain


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = command(commands, "ground", "collect passages that help to answer a question, word for word", _run)
    parser.add_argument("question", metavar="QUESTION", help="what is to be answered")
    parser.add_argument("--budget", type=int, default=6000, metavar="N", help="characters of the whole pack (default 6000)")
    parser.add_argument("--ids", action="extend", nargs="+", default=[], metavar="ID", help="only from these sections")
    parser.add_argument("--semantic", action="store_true", help="search by meaning too")
    filters(parser)
    parser.add_argument("--language", metavar="XX", help="only documents in this language, such as de")


def _run(base: KnowledgeBase, options: argparse.Namespace) -> int:
    answer = base.ground(
        plain(options.question),
        budget=options.budget,
        ids=[plain(id_) for id_ in options.ids],
        semantic=options.semantic,
        collections=options.collection,
        types=options.type,
        status=options.status,
        language=options.language,
    )
    emit(options, answer.as_json(), lambda: text.ground(answer, sys.stdout.isatty()), base)
    if answer.warning:
        sys.stderr.write(f"kb: {text.one_line(answer.warning)}\n")
    return 0 if answer.passages else 1
