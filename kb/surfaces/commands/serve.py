"""`kb mcp` and `kb serve`."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from kb.base import KnowledgeBase
from kb.errors import ArgumentError
from kb.surfaces.arguments import command

TOKEN = "KB_TOKEN"
_LEAST_TOKEN = 16


def add(commands: Any) -> None:
    """Add the commands to the parser."""
    command(commands, "mcp", "serve the base to an agent over standard input and output", _mcp)
    serve = command(commands, "serve", "serve the base over HTTP: API, MCP at /mcp, and a page", _serve, _check)
    serve.add_argument("--host", metavar="ADDRESS", help="address to listen on (default 127.0.0.1); others need KB_TOKEN")
    serve.add_argument("--port", type=int, metavar="N", help="port, 0 for any free one (default 8321)")


def _mcp(base: KnowledgeBase, options: argparse.Namespace) -> int:
    from kb.surfaces.mcp.stdio import serve

    return serve(base)


def _check(options: argparse.Namespace) -> None:
    if options.port is not None and not 0 <= options.port <= 65535:
        raise ArgumentError(f"port must be from 0 to 65535, got {options.port}")
    _token()


def _token() -> str | None:
    token = os.environ.get(TOKEN, "").strip()
    if token and (len(token) < _LEAST_TOKEN or not token.isascii() or any(char.isspace() for char in token)):
        raise ArgumentError(f"{TOKEN} must have {_LEAST_TOKEN} or more ASCII characters and no spaces")
    return token or None


def _serve(base: KnowledgeBase, options: argparse.Namespace) -> int:
    from kb.surfaces.http.guard import Rules, is_loopback
    from kb.surfaces.http.server import listen, serve

    settings = base.config.serve
    host = settings.host if options.host is None else options.host
    port = settings.port if options.port is None else options.port
    token = _token()
    if not is_loopback(host) and token is None:
        raise ArgumentError(f"{host} can be reached by others: set {TOKEN} to a secret of {_LEAST_TOKEN} or more characters")
    socket = listen(host, port)
    named = () if host in ("0.0.0.0", "::") else (host.lower(),)
    rules = Rules((*named, *settings.allowed_hosts), settings.allowed_origins, token)
    bound = socket.getsockname()
    shown = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
    sys.stderr.write(f"serving {base.config.path} at http://{shown}:{bound[1]}/ (stop with Ctrl-C)\n")
    sys.stderr.flush()
    return serve(base, rules, socket)
