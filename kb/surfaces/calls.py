"""Operations for surfaces that serve many callers at once: run in a few threads, with progress, and stopped when given up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, TypeVar

from kb.errors import KBError
from kb.surfaces.operations.model import Body, Operation

if TYPE_CHECKING:
    from kb.base import KnowledgeBase

Report = Callable[[int, int], None]
T = TypeVar("T")
THREADS = 4
"""Answers worked on side by side. More would only share one interpreter, and each holds an open index."""


class Cancelled(KBError):
    """Whoever asked has given up; what was being written is rolled back."""


class _Call:
    def __init__(self, report: Report | None) -> None:
        self.report = report
        self.given_up = threading.Event()


_CURRENT: ContextVar[_Call | None] = ContextVar("kb_call", default=None)


class Calls:
    """Runs operations against one base. Its threads live as long as it does, so that open indexes are used again."""

    def __init__(self, base: KnowledgeBase) -> None:
        self.base = base
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="kb")
        base.report_to(_progress)

    async def run(
        self, asked: Operation, given: Mapping[str, Any], characters: int | None = None, report: Report | None = None
    ) -> Body:
        """Return the answer to an operation; `report` hears of the progress of long work, in the thread that does it."""
        from kb.surfaces.operations.run import run

        return await self.do(lambda: run(self.base, asked, given, characters), report)

    async def do(self, work: Callable[[], T], report: Report | None = None) -> T:
        """Return what a piece of work returns. Where the caller is cancelled the work stops at its next progress."""
        call = _Call(report)
        context = copy_context()
        context.run(_CURRENT.set, call)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, context.run, work)
        except asyncio.CancelledError:
            call.given_up.set()
            raise

    def close(self) -> None:
        """Let the threads end; what has not begun is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _progress(done: int, total: int) -> None:
    call = _CURRENT.get()
    if call is None:
        return
    if call.given_up.is_set():
        raise Cancelled("cancelled by the caller")
    if call.report is not None:
        call.report(done, total)
