"""`kb mcp`: the protocol over standard input and output."""

from __future__ import annotations

import gc
import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kb.base import KnowledgeBase


def serve(base: KnowledgeBase) -> int:
    """Serve until the client closes the input; return the exit code. Nothing but protocol reaches the output."""
    incoming, outgoing = _claim()
    # Importing the SDK makes very many objects that stay: looking for garbage among them again and again costs a third.
    gc.disable()
    import anyio
    import mcp.server.stdio

    from kb.surfaces.calls import Calls
    from kb.surfaces.mcp.lines import Incoming, Outgoing, Traffic
    from kb.surfaces.mcp.server import make
    from kb.surfaces.operations.registry import operations, writable

    gc.freeze()
    gc.enable()
    calls = Calls(base)
    server = make(calls, operations(writable=writable(base)))

    async def run() -> None:
        traffic = Traffic()
        streams = mcp.server.stdio.stdio_server(
            Incoming(anyio.wrap_file(incoming), traffic),  # type: ignore[arg-type]  # they do what is used of a file
            Outgoing(anyio.wrap_file(outgoing), traffic),  # type: ignore[arg-type]
        )
        async with streams as (read, write):
            await server.run(read, write, server.create_initialization_options())

    try:
        anyio.run(run)
    except (BrokenPipeError, anyio.BrokenResourceError):
        pass  # the client has gone
    finally:
        calls.close()
    return 0


def _claim() -> tuple[TextIOWrapper, TextIOWrapper]:
    """Take standard input and output for the protocol alone, for good.

    Whatever prints from now on, in this process or below it, prints to standard error; whatever reads, reads nothing.
    """
    sys.stdout.flush()
    private_in, private_out = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    incoming = TextIOWrapper(os.fdopen(private_in, "rb"), encoding="utf-8", errors="replace")
    return incoming, TextIOWrapper(os.fdopen(private_out, "wb"), encoding="utf-8", write_through=False)
