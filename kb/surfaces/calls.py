"""Operations for surfaces that serve many callers at once: run in a few threads, with progress, and stopped when given up."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Any, TypeVar

from kb.errors import KBError
from kb.freshness import ASKED
from kb.surfaces.operations.model import Body, Operation

if TYPE_CHECKING:
    from kb.base import KnowledgeBase

Report = Callable[[int, int], None]
T = TypeVar("T")
KEPT = 512
"""Answers kept, a few thousand characters each: what is typed into a search box comes again and again."""
_KEPT = ("search", "list", "tree", "vector")
_LONGEST_KEY = 2000
THREADS = 4
"""Answers worked on side by side. More would only share one interpreter, and each holds an open index."""


class Cancelled(KBError):
    """Whoever asked has given up; what was being written is rolled back."""


class _Call:
    def __init__(self, report: Report | None) -> None:
        self.report = report
        self.given_up = threading.Event()


_CURRENT: ContextVar[_Call | None] = ContextVar("kb_call", default=None)


class _Kept:
    """Answers to the latest questions, each good for one state of the index; never changed once they are here."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, tuple[int, Body]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str, state: int | None) -> Body | None:
        with self._lock:
            held = self._held.get(key)
            if held is None or held[0] != state:
                return None
            self._held.move_to_end(key)
            return held[1]

    def put(self, key: str, state: int, body: Body) -> None:
        with self._lock:
            self._held[key] = (state, body)
            self._held.move_to_end(key)
            while len(self._held) > KEPT:
                self._held.popitem(last=False)


def _key(asked: Operation, given: Mapping[str, Any], characters: int | None) -> str | None:
    """Return what an answer is kept under; None where it depends on more than the index, or is large."""
    if asked.name not in _KEPT or given.get("semantic") or given.get("max_characters"):
        return None
    key = json.dumps([asked.name, given, characters], sort_keys=True, default=repr)
    return key if len(key) <= _LONGEST_KEY else None


class Calls:
    """Runs operations against one base. Its threads live as long as it does, so that open indexes are used again."""

    def __init__(self, base: KnowledgeBase) -> None:
        self.base = base
        self._kept = _Kept()
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="kb")
        base.report_to(_progress)

    async def run(
        self, asked: Operation, given: Mapping[str, Any], characters: int | None = None, report: Report | None = None
    ) -> Body:
        """Return the answer to an operation; `report` hears of the progress of long work, in the thread that does it."""
        from kb.surfaces.operations.run import run

        def work() -> Body:
            key = _key(asked, given, characters)
            if key is None:
                return run(self.base, asked, given, characters)
            state = self.base.state()
            held = self._kept.get(key, state)
            if held is None:
                held = run(self.base, asked, given, characters)
                if state is not None and not held.get("warning"):
                    self._kept.put(key, state, held)
            return held

        return await self.do(work, report)

    async def do(self, work: Callable[[], T], report: Report | None = None) -> T:
        """Return what a piece of work returns. Where the caller is cancelled the work stops at its next progress."""
        call = _Call(report)
        context = copy_context()
        context.run(_CURRENT.set, call)
        context.run(ASKED.set, time.monotonic())
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
