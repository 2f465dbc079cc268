"""What the commands share: their options, and how an answer is printed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from kb.base import KnowledgeBase
from kb.errors import ArgumentError

_WIDTH = 80
Run = Callable[[KnowledgeBase, argparse.Namespace], int]
Check = Callable[[argparse.Namespace], None]


class _Help(argparse.HelpFormatter):
    """Help as wide as the terminal; the width is asked for here because argparse imports a slow module for it."""

    def __init__(self, prog: str) -> None:
        try:
            width = int(os.environ.get("COLUMNS", "")) or _WIDTH
        except ValueError:
            width = os.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH
        super().__init__(prog, width=width - 2)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line that says what to do."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"formatter_class": _Help, **options})

    def error(self, message: str) -> NoReturn:
        """Raise ArgumentError instead of printing the usage and leaving."""
        raise ArgumentError(f"{message} (see: {self.prog} --help)")


def command(commands: Any, name: str, purpose: str, run: Run, check: Check | None = None) -> argparse.ArgumentParser:
    """Add a command. `check` looks at the arguments before the base is opened."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=purpose, description=purpose[0].upper() + purpose[1:] + ".")
    # SUPPRESS keeps a value given before the command from being overwritten by the default after it.
    common(parser, argparse.SUPPRESS)
    parser.set_defaults(run=run, check=check, operation=name)
    return parser


def common(parser: argparse.ArgumentParser, default: Any) -> None:
    """Add the options that stand before or after the command."""
    parser.add_argument(
        "--base",
        default=default,
        metavar="PATH",
        help="a folder, a file or a kb.toml (default: KB_BASE, the nearest kb.toml, the shipped base)",
    )
    parser.add_argument("--json", action="store_true", default=default or False, help="print JSON")


def filters(parser: argparse.ArgumentParser) -> None:
    """Add the options that narrow by collection, type and status."""
    parser.add_argument("--collection", action="append", default=[], metavar="C", help="only this collection (may be repeated)")
    parser.add_argument("--type", action="append", default=[], metavar="T", help="only documents of this type (may be repeated)")
    parser.add_argument("--status", metavar="S", help="only documents with this status")


def bound(parser: argparse.ArgumentParser) -> None:
    """Add the option that keeps JSON small."""
    parser.add_argument("--max-characters", type=int, metavar="N", help="with --json: cut the answer to this length")


def emit(options: argparse.Namespace, body: dict[str, Any], human: Callable[[], str], base: KnowledgeBase | None = None) -> None:
    """Print an answer: JSON where that was asked for, else text. With its `base` the JSON says what to ask next."""
    if not options.json:
        sys.stdout.write(human())
        return
    if base is not None:
        from kb.surfaces.operations.following import follow

        values = vars(options)
        if values.get("max_characters") is None:
            body = follow(base, options.operation, body, values)
        else:
            from kb.surfaces.operations.run import run_named

            body = run_named(base, options.operation, values)
    sys.stdout.write(json.dumps(body, ensure_ascii=False, indent=2) + "\n")


def plain(text: str) -> str:
    """Return an argument without the lone surrogates that undecodable bytes of a command line leave."""
    return text.encode("utf-8", "replace").decode("utf-8")
