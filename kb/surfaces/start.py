"""Where the command begins, before anything large is imported.

Keyword search multiplies no matrices, so the threads that numpy's linear algebra starts at import are never used; and a
command that is over in a moment has nothing for the cycle collector to find, during its life or at its end. Together they
are half of the time that importing numpy takes.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

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

_SHORT = frozenset(("search", "section", "list", "tree", "status", "cite"))
_RANKING = frozenset(("search", "ground"))
_COLLECT_AFTER = 100_000
"""Objects made between two collections, in place of 700."""


def console() -> NoReturn:
    """Run the command as a process of its own and end the process.

    A short command has closed its base and written its answer when it returns; taking the interpreter apart module by module
    would take a sixth of the whole run. Commands that serve, embed or start processes end in the ordinary way.
    """
    code = main()
    if _is_short(sys.argv[1:]) or _is_one_run(sys.argv[1:]):
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # full or closed, and reported already
                stream.flush()
        os._exit(code)
    sys.exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if _is_short(arguments) or command_of(arguments) == "index":
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        gc.set_threshold(_COLLECT_AFTER)
    if command_of(arguments) in _RANKING:
        # Here, where the stack is shallow. Python keeps its frames in pieces of memory, and where one piece is full just when
        # the modules of numpy are run, the next is asked of the system and given back again a thousand times.
        import numpy  # noqa: F401
    from kb.surfaces.cli import main as run  # only now: it imports most of what a search needs

    return run(arguments)


def _is_short(arguments: Sequence[str]) -> bool:
    """Tell whether a command only looks things up; one that asks for a model does too where there is none."""
    if command_of(arguments) not in _SHORT:
        return False
    if "--semantic" not in arguments:
        return True
    from kb.embedding.loading import any_installed

    return not any_installed()


def _is_one_run(arguments: Sequence[str]) -> bool:
    """Tell whether an index is made once, by keywords: what processes that took has ended."""
    return command_of(arguments) == "index" and not {"--semantic", "--watch"}.intersection(arguments)


def command_of(arguments: Sequence[str]) -> str | None:
    """Return the command that arguments name, None where they name none that is known."""
    rest = iter(arguments)
    for argument in rest:
        if argument == "--base":
            next(rest, None)
        elif not argument.startswith("-"):
            return argument if argument in COMMANDS else None
    return None
