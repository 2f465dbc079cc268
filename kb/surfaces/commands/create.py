"""`kb new`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from kb.base import KnowledgeBase
from kb.errors import ArgumentError
from kb.surfaces import text
from kb.surfaces.arguments import command, emit, plain


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = command(commands, "new", "create a document from standard input", _run)
    parser.add_argument("--title", required=True, metavar="T", help="its title")
    parser.add_argument("--slug", metavar="S", help="its name in the path (default: from the title)")
    parser.add_argument("--parent", metavar="ID", help="the document it lies below: an id or a path")
    parser.add_argument("--status", metavar="S", help="its status (default: published)")
    parser.add_argument("--sort-order", type=float, metavar="N", help="its place among its siblings")
    parser.add_argument("--format", choices=("md", "html"), default="md", help="Markdown or HTML (default: md)")
    parser.add_argument("--language", metavar="XX", help="its language, such as de")
    parser.add_argument("--collection", metavar="C", help="the collection; needed where several are writable")


def _run(base: KnowledgeBase, options: argparse.Namespace) -> int:
    base.writable(options.collection)  # before a text is typed in vain
    order = options.sort_order
    answer = base.new(
        plain(options.title),
        _content(),
        slug=None if options.slug is None else plain(options.slug),
        parent=None if options.parent is None else plain(options.parent),
        status=options.status,
        sort_order=int(order) if order is not None and order.is_integer() else order,
        format=options.format,
        language=options.language,
        collection=options.collection,
    )
    emit(options, answer.as_json(), lambda: text.created(answer), base)
    if answer.warning:
        sys.stderr.write(f"kb: {text.one_line(answer.warning)}\n")
    return 0


def _content() -> str:
    if sys.stdin.isatty():
        sys.stderr.write("reading the text from the keyboard; Ctrl-D ends it\n")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArgumentError(f"the content on standard input is not UTF-8 ({error.reason} at byte {error.start})") from error
