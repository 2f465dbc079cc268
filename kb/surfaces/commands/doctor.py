"""`kb doctor`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from kb.base import KnowledgeBase
from kb.surfaces import text
from kb.surfaces.arguments import command, emit

if TYPE_CHECKING:
    from kb.reading.likeness import DoctorAnswer

_MARKS = {True: "ok", False: "broken", None: "-"}


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = command(commands, "doctor", "check the index, the embedding model and its speed", _run)
    parser.add_argument("--verify", action="store_true", help="compare every index file with its checksums")
    parser.add_argument("--mcp", action="store_true", help="try the MCP server, and show how common clients are told of it")


def _run(base: KnowledgeBase, options: argparse.Namespace) -> int:
    if options.mcp:
        return _mcp(base, options)
    answer = base.doctor(verify=options.verify)
    emit(options, answer.as_json(), lambda: _lines(answer))
    return 0 if answer.ok else 3


def _mcp(base: KnowledgeBase, options: argparse.Namespace) -> int:
    from kb.reading.likeness import Check, DoctorAnswer
    from kb.surfaces.mcp.check import check
    from kb.surfaces.mcp.snippets import snippets

    named = base.config.path if base.config.named else None
    answer = DoctorAnswer((Check("mcp", *check(named)),))
    ready = snippets(named)
    shown = "".join(f"\n{client}\n{lines}\n" for client, lines in ready)
    body = {**answer.as_json(), "snippets": [{"client": client, "text": lines} for client, lines in ready]}
    emit(options, body, lambda: _lines(answer) + shown)
    return 0 if answer.ok else 3


def _lines(answer: DoctorAnswer) -> str:
    return "".join(f"{_MARKS[check.ok]:6} {check.name}: {text.one_line(check.detail)}\n" for check in answer.checks)
