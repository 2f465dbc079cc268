"""Progress of long work to whoever asked for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp.server.context import ServerRequestContext

from kb.surfaces.calls import Report

Context = ServerRequestContext[Any, Any]
T = TypeVar("T")
_EVERY_SECONDS = 0.2


async def with_progress(context: Context, work: Callable[[Report | None], Awaitable[T]]) -> T:
    """Return what the work returns; while it goes on its progress is sent to the client, where the client wants it."""
    if context.meta is None or context.meta.get("progress_token", context.meta.get("progressToken")) is None:
        return await work(None)
    loop = asyncio.get_running_loop()
    send, receive = anyio.create_memory_object_stream[tuple[int, int]](16)
    last = 0.0

    def post(done: int, total: int) -> None:
        try:
            send.send_nowait((done, total))
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the client is slow or gone: the next number says as much

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY_SECONDS or done == total:
            last = now
            loop.call_soon_threadsafe(post, done, total)

    async def forward() -> None:
        highest = -1
        async with receive:
            async for done, total in receive:
                if done > highest:
                    highest = done
                    await context.session.report_progress(done, total, f"indexing {done}/{total} files")

    async with anyio.create_task_group() as group:
        group.start_soon(forward)
        try:
            result = await work(report)
        finally:
            send.close()
    return result
