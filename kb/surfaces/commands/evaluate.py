"""`kb eval`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from kb.base import KnowledgeBase
from kb.surfaces import text
from kb.surfaces.arguments import command, emit


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = command(commands, "eval", "measure how well a base answers questions whose answers are known", _run, _check)
    parser.add_argument(
        "gold", type=Path, metavar="GOLD.jsonl", help="one JSON object a line: id, query, relevant, class, language"
    )
    parser.add_argument("--collection", action="append", default=[], metavar="C", help="only this collection (may be repeated)")
    parser.add_argument("--semantic", action="store_true", help="search by meaning too, with embeddings")
    parser.add_argument(
        "--compare", metavar="KEY=VALUE,...", help="with other settings too, such as k1=1.5,fuzzy=false or semantic=true"
    )
    parser.add_argument("--chart", type=Path, metavar="FILE.svg", help="draw the measures into a file")
    parser.add_argument("--trec", type=Path, metavar="FOLDER", help="write the run and the judgements in TREC format")


def _check(options: argparse.Namespace) -> None:
    from kb.evaluation import gold, measures

    measures.require()
    options.questions = gold.load(options.gold)


def _run(base: KnowledgeBase, options: argparse.Namespace) -> int:
    from kb.evaluation import chart, configuration, gold, report, table, trec

    changes = configuration.parse(options.compare, base.config) if options.compare is not None else None
    questions = gold.judge(base, options.questions, options.gold, collections=options.collection)
    shown: report.Report | report.Comparison
    own = configuration.configure(base.config, {}, semantic=options.semantic)
    shown = first = report.evaluate(base, questions, collections=options.collection, configuration=own)
    if changes is not None:
        changed = configuration.configure(base.config, changes, semantic=options.semantic)
        second = report.evaluate(base, questions, collections=options.collection, configuration=changed)
        shown = report.compare(first, second, changes)
    if options.trec is not None:
        trec.export(shown, options.trec)
    if options.chart is not None:
        trec.write(options.chart, chart.svg(shown))
    emit(
        options,
        shown.as_json(),
        lambda: text.safe(table.comparison(shown) if isinstance(shown, report.Comparison) else table.text(shown)),
    )
    for warning in dict.fromkeys([*first.run.warnings, *(second.run.warnings if changes is not None else ())]):
        sys.stderr.write(f"kb: {text.one_line(warning)}\n")
    return 0
