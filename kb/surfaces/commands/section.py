"""`kb section`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from kb.base import KnowledgeBase
from kb.errors import ArgumentError
from kb.reading.checks import check_window
from kb.surfaces import text
from kb.surfaces.arguments import bound, command, emit, plain


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = command(commands, "section", "read one section", _run, _check)
    parser.add_argument("id", metavar="ID", help="id of a section (B.3, B.3@collection) or path of a source file")
    parser.add_argument("--language", metavar="XX", help="the variant in this language")
    parser.add_argument("--raw", action="store_true", help="the lines as they stand in the file")
    parser.add_argument("--offset", type=int, metavar="N", help="with --raw: first line, counted from 1")
    parser.add_argument("--limit", type=int, metavar="N", help="with --raw: number of lines")
    parser.add_argument("--numbered", action="store_true", help="with --raw: number the lines")
    parser.add_argument("--parsed", action="store_true", help="as data: front matter, canonical headings, items, entries")
    bound(parser)


def _check(options: argparse.Namespace) -> None:
    check_window(options.raw, options.offset, options.limit, options.numbered)
    if options.raw and options.parsed:
        raise ArgumentError("--raw and --parsed exclude each other")


def _run(base: KnowledgeBase, options: argparse.Namespace) -> int:
    id_ = plain(options.id)
    if options.raw:
        window = base.raw(id_, offset=options.offset, limit=options.limit, numbered=options.numbered, language=options.language)
        emit(options, window.as_json(), lambda: text.raw(window), base)
        return 0
    if options.parsed:
        data = base.parsed(id_, language=options.language)
        emit(options, data.as_json(), lambda: text.parsed(data), base)
        if data.error is not None:
            sys.stderr.write(f"kb: {text.one_line(data.source or '')}: {text.one_line(data.error)}\n")
        return 0 if data.error is None else 1
    found = base.section(id_, language=options.language)
    emit(options, found.as_json(), lambda: text.section(found), base)
    if found.error is not None:
        sys.stderr.write(f"kb: {text.one_line(found.source or '')}: {text.one_line(found.error)}\n")
        return 1
    return 0
