"""`kb engine`: a base carried over to the engine that its kb.toml names, and vectors back from there."""

from __future__ import annotations

import argparse
from typing import Any

from kb.base import KnowledgeBase
from kb.surfaces.arguments import command, emit


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = command(commands, "engine", "carry a base over to its engine, or vectors back, without embedding again", _run)
    parser.add_argument(
        "action",
        choices=("export", "import"),
        help="export: send all points that differ; import: take vectors that are missing here",
    )


def _run(base: KnowledgeBase, options: argparse.Namespace) -> int:
    if options.action == "export":
        held = base.engine_export()
        emit(options, {"action": "export", "engine": dict(held)}, lambda: f"{held['points']} points behind {held['alias']}\n")
        return 0
    count = base.engine_import()
    emit(options, {"action": "import", "vectors": count}, lambda: f"{count} vectors taken\n")
    return 0
