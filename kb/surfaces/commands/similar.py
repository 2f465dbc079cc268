"""`kb related`, `kb similar` and `kb chunks`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from kb.base import KnowledgeBase
from kb.surfaces import text
from kb.surfaces.arguments import command, emit, plain

if TYPE_CHECKING:
    from kb.reading.likeness import ChunksAnswer, SimilarAnswer


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    related = command(commands, "related", "list the sections most like one section, by embeddings", _related)
    related.add_argument("id", metavar="ID", help="id of a section, or path of a source file")
    related.add_argument("--language", metavar="XX", help="start from the variant in this language")
    similar = command(commands, "similar", "list the sections most like a text, by embeddings", _similar)
    similar.add_argument("text", metavar="TEXT", help="the text; - reads standard input")
    for parser in (related, similar):
        parser.add_argument("--top-k", type=int, default=10, metavar="N", help="sections to return, 1 to 100 (default 10)")
        parser.add_argument("--min-score", type=float, metavar="X", help="least cosine, -1 to 1")
        parser.add_argument(
            "--type", action="append", default=[], metavar="T", help="only documents of this type (may be repeated)"
        )
    chunks = command(commands, "chunks", "list the passages nearest to a question, by embeddings", _chunks)
    chunks.add_argument("query", metavar="QUERY", help="the question")
    chunks.add_argument("--collection", required=True, metavar="C", help="the collection they are taken from")
    chunks.add_argument("--limit", type=int, default=5, metavar="N", help="passages to return, 1 to 100 (default 5)")


def _related(base: KnowledgeBase, options: argparse.Namespace) -> int:
    answer = base.related(
        plain(options.id), top_k=options.top_k, min_score=options.min_score, types=options.type, language=options.language
    )
    return _shown(base, options, answer, _sections(answer))


def _similar(base: KnowledgeBase, options: argparse.Namespace) -> int:
    given = sys.stdin.buffer.read().decode("utf-8", "replace") if options.text == "-" else plain(options.text)
    answer = base.similar(given, top_k=options.top_k, min_score=options.min_score, types=options.type)
    return _shown(base, options, answer, _sections(answer))


def _chunks(base: KnowledgeBase, options: argparse.Namespace) -> int:
    answer = base.chunks(plain(options.query), collection=options.collection, limit=options.limit)
    return _shown(base, options, answer, _passages(answer))


def _shown(base: KnowledgeBase, options: argparse.Namespace, answer: SimilarAnswer | ChunksAnswer, lines: str) -> int:
    emit(options, answer.as_json(), lambda: lines or ("nothing found\n" if answer.available else "not available\n"), base)
    said = answer.warning if answer.available else answer.message
    if said:
        sys.stderr.write(f"kb: {text.one_line(said)}\n")
    return 0 if answer.results else 1


def _sections(answer: SimilarAnswer) -> str:
    return "".join(
        f"{number}. {text.one_line(row.path)}  [{text.one_line(row.id or row.source)}]  {row.score:.3f}\n"
        for number, row in enumerate(answer.results, 1)
    )


def _passages(answer: ChunksAnswer) -> str:
    return "".join(
        f"{number}. {text.one_line(row.document_title)}  {text.one_line(row.chunk_id)}  {row.score:.3f}\n"
        f"{text.safe(row.content)}\n\n"
        for number, row in enumerate(answer.results, 1)
    )
