"""`kb cite`."""

from __future__ import annotations

import argparse
from typing import Any

from kb.base import KnowledgeBase
from kb.surfaces import text
from kb.surfaces.arguments import command, emit, plain


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = command(commands, "cite", "show a clause with its source, date and disclaimer", _run)
    parser.add_argument("id", metavar="ID", help="id of a clause: scheme:version:clause")
    parser.add_argument("--language", metavar="XX", help="the variant in this language")


def _run(base: KnowledgeBase, options: argparse.Namespace) -> int:
    found = base.cite(plain(options.id), language=options.language)
    emit(options, found.as_json(), lambda: text.clause(found), base)
    return 0
