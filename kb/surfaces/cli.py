"""The command `kb`: arguments in, text or JSON out, an exit code that scripts can rely on.

Exit codes: 0 found or done, 1 nothing found, unknown id or not available, 2 bad arguments, 3 the base can't be used.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from kb.base import KnowledgeBase
from kb.errors import KBError, NotFound
from kb.surfaces import text
from kb.surfaces.arguments import Parser, Run, common
from kb.surfaces.progress import Progress
from kb.surfaces.start import COMMANDS, command_of

_SERVERS = frozenset(("mcp", "serve"))
"""Commands that answer others."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started the command
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _run(arguments)
        sys.stdout.flush()
        return code
    except KBError as error:
        _report(error, as_json)
        return error.exit_code
    except BrokenPipeError:
        # The reader of a pipe has had enough; nothing more may be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        sys.stderr.write("kb: interrupted\n")
        return 130
    except OSError as error:
        _report(
            KBError(f"{error.strerror or error}: {error.filename or 'the base'}; check the path and its permissions"),
            as_json,
        )
        return KBError.exit_code


def _report(error: KBError, as_json: bool) -> None:
    message = text.one_line(str(error))
    suggestions = getattr(error, "suggestions", ())
    if as_json:
        body: dict[str, Any] = {"error": message}
        if isinstance(error, NotFound):
            body["suggestions"] = list(suggestions)
        sys.stdout.write(json.dumps(body, ensure_ascii=False) + "\n")
        sys.stdout.flush()
    hint = f"; did you mean: {', '.join(suggestions)}" if suggestions else ""
    sys.stderr.write(f"kb: {message}{hint}\n")


def _run(arguments: Sequence[str]) -> int:
    parser = build_parser(command_of(arguments))
    options = parser.parse_args(arguments)
    command: Run | None = getattr(options, "run", None)
    if command is None:
        parser.print_help()
        return 2
    check = getattr(options, "check", None)
    if check is not None:
        check(options)
    progress = Progress(sys.stderr)
    with KnowledgeBase(options.base, progress=progress if progress.shown else None) as base:
        if not base.config.named and not options.json:
            sys.stderr.write(f"searching {base.config.path} (to use the current folder: --base .)\n")
        if options.operation not in _SERVERS:
            base.report_waiting(_waiting)
        try:
            return command(base, options)
        finally:
            progress.close()


def _waiting() -> None:
    sys.stderr.write("kb: another process is making this index; waiting for it\n")
    sys.stderr.flush()


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the whole command, or one that knows a single command of it and is quicker to make.

    Documentation and tests read the whole one too.
    """
    parser = Parser(prog="kb", description="Find the right section of a knowledge base.")
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and leave")
    common(parser, None)
    # With `prog` given, no formatter is made just to work it out.
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser, prog="kb")
    names = [COMMANDS[command]] if command is not None else dict.fromkeys(COMMANDS.values())
    for name in names:
        import_module(f"kb.surfaces.commands.{name}").add(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version  # slow to import, and wanted once in a while

        sys.stdout.write(f"kb {version('kb-search')}\n")
        parser.exit()
