"""`kb model`: the weights of the large embedding model."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from kb.base import KnowledgeBase
from kb.surfaces import text
from kb.surfaces.arguments import command, emit


def add(commands: Any) -> None:
    """Add the command to the parser."""
    parser = command(commands, "model", "fetch the weights of BGE-M3 (2.3 GB), or show which model is used", _run)
    parser.add_argument("action", choices=("fetch", "show"), help="fetch: download the weights; show: what is used and where")


def _run(base: KnowledgeBase, options: argparse.Namespace) -> int:
    from kb.embedding import loading, weights
    from kb.errors import SemanticUnavailable

    if options.action == "fetch":
        sys.stderr.write(f"kb: fetching {weights.BGE_M3} into {weights.models_folder() / 'bge-m3'}\n")
        folder = weights.fetch()
        body: dict[str, Any] = {"model": "bge-m3", "folder": str(folder.path), "dimension": folder.dimension}
        emit(options, body, lambda: f"bge-m3 is in {folder.path}\n")
        return 0
    try:
        choice = loading.choose(base.config.semantic.model)
    except SemanticUnavailable as error:
        said = str(error)
        emit(options, {"available": False, "reason": error.reason, "message": said}, lambda: "no model\n")
        sys.stderr.write(f"kb: {text.one_line(said)}\n")
        return 1
    body = {"available": True, "model": choice.family, "folder": str(choice.folder) if choice.folder else None}
    emit(options, body, lambda: f"{choice.family}" + (f" in {choice.folder}" if choice.folder else "") + "\n")
    return 0
