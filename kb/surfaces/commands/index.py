"""`kb index` and `kb status`."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from kb.base import KnowledgeBase
from kb.surfaces import text
from kb.surfaces.arguments import command, emit


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    index = command(commands, "index", "bring the index up to date", _index)
    index.add_argument("--semantic", action="store_true", help="make the vectors that semantic search needs, too")
    index.add_argument("--rebuild", action="store_true", help="make the index anew")
    index.add_argument("--watch", action="store_true", help="stay, and index what changes, until interrupted")
    command(commands, "status", "show what the base holds and how its index stands", _status)


def _index(base: KnowledgeBase, options: argparse.Namespace) -> int:
    if options.watch:
        return _watch(base, options)
    answer = base.index(rebuild=options.rebuild, semantic=options.semantic)
    emit(options, answer.as_json(), lambda: text.index(answer))
    for warning in answer.warnings:
        sys.stderr.write(f"kb: {text.one_line(warning)}\n")
    return 0


def _watch(base: KnowledgeBase, options: argparse.Namespace) -> int:
    """Print what each run did, one line each; with --json one object a line."""
    if options.rebuild:
        base.index(rebuild=True)
    for answer in base.watch(semantic=options.semantic):
        sys.stdout.write(json.dumps(answer.as_json(), ensure_ascii=False) + "\n" if options.json else text.index(answer))
        sys.stdout.flush()
    return 0


def _status(base: KnowledgeBase, options: argparse.Namespace) -> int:
    answer = base.status()
    emit(options, answer.as_json(), lambda: text.status(answer), base)
    return 0
