"""Where the command begins, before anything large is imported.

Keyword search multiplies no matrices, so the threads that numpy's linear algebra starts at import are never used; and a
command that is over in a moment has nothing for the cycle collector to find. Both together are a third of the time that
importing numpy takes.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

COMMANDS = {
    "search": "search",
    "section": "section",
    "list": "listing",
    "tree": "listing",
    "ground": "ground",
    "cite": "cite",
    "new": "create",
    "index": "index",
    "status": "index",
    "eval": "evaluate",
    "related": "similar",
    "similar": "similar",
    "chunks": "similar",
    "vector": "vector",
    "model": "model",
    "engine": "engine",
    "doctor": "doctor",
    "mcp": "serve",
    "serve": "serve",
}
"""Command -> the module that adds it. One is loaded for a command, all for the help."""

_WITHOUT_MATRICES = frozenset(("search", "section", "list", "tree", "status", "cite", "index"))
_COLLECT_AFTER = 100_000
"""Objects made between two collections, in place of 700."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if "--semantic" not in arguments and command_of(arguments) in _WITHOUT_MATRICES:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        gc.set_threshold(_COLLECT_AFTER)
    from kb.surfaces.cli import main as run  # only now: it imports numpy

    return run(arguments)


def command_of(arguments: Sequence[str]) -> str | None:
    """Return the command that arguments name, None where they name none that is known."""
    rest = iter(arguments)
    for argument in rest:
        if argument == "--base":
            next(rest, None)
        elif not argument.startswith("-"):
            return argument if argument in COMMANDS else None
    return None
