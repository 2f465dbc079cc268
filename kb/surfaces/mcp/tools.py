"""The tools: an operation each, listed with its limits and shapes, and called."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations

from kb.errors import KBError
from kb.surfaces.calls import Calls
from kb.surfaces.mcp.progress import Context, with_progress
from kb.surfaces.operations.model import Body, Operation
from kb.surfaces.operations.run import error_body

PREFIX = "kb_"
LONGEST = 20_000
"""Characters of an answer where the caller names no number: what a model reads in one go without losing its thread."""
_LOG = logging.getLogger("kb.mcp")


def listed(operations: Sequence[Operation]) -> ListToolsResult:
    """Return the tools as they are listed."""
    return ListToolsResult(
        tools=[
            Tool(
                name=f"{PREFIX}{asked.name}",
                title=asked.title,
                description=asked.purpose,
                input_schema=asked.input_schema(max_characters=LONGEST),
                output_schema=dict(asked.output),
                annotations=ToolAnnotations(
                    read_only_hint=not asked.writes,
                    destructive_hint=False,
                    idempotent_hint=not asked.writes,
                    open_world_hint=False,
                ),
            )
            for asked in operations
        ]
    )


async def call(
    calls: Calls, operations: Mapping[str, Operation], context: Context, name: str, arguments: Mapping[str, Any] | None
) -> CallToolResult:
    """Return the answer of a tool, or the error as a result that a model can act on. MCPError for an unknown tool."""
    asked = operations.get(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None
    if asked is None:
        valid = ", ".join(f"{PREFIX}{known}" for known in operations)
        raise MCPError(INVALID_PARAMS, f"unknown tool {name[:80]!r}; there are: {valid}")
    try:
        body = await with_progress(context, lambda report: calls.run(asked, arguments or {}, LONGEST, report))
    except KBError as error:
        return _error(error_body(error))
    except anyio.get_cancelled_exc_class():
        raise
    except Exception as error:
        # The text of an unforeseen error may hold anything; a model has no use for it.
        _LOG.error("%s failed: %s", name, type(error).__name__)
        return _error({"error": f"internal error in {name}; the server's log names it"})
    return CallToolResult(content=[TextContent(type="text", text=as_text(body))], structured_content=body)


def as_text(body: Body) -> str:
    """Return a body as JSON text."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False)


def _error(body: Body) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=as_text(body))], is_error=True)
