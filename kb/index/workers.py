"""Work in several processes: files prepared and handed back in order, and what can be done beside something else."""

from __future__ import annotations

import os
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import connection, get_all_start_methods, get_context
from typing import TypeVar

from kb.index.prepare import Prepared, Preparer, Task

T = TypeVar("T")

LEAST_BYTES = 1 << 20
"""Below this much text the processes cost more than they save."""
_MOST_PROCESSES = 8


def prepared(tasks: Sequence[Task], sizes: Sequence[int]) -> Iterator[Prepared | None]:
    """Yield what a `Preparer` makes of each task, in order; `sizes` are the bytes of each file.

    Processes are forked, and only from a process of one thread: a fork beside other threads may copy a lock that is
    held. Where that is not so, or the text is small, everything is done here.
    """
    count = min(_processes(sum(sizes)), len(tasks))
    if count < 2:
        yield from map(Preparer(0).prepare, tasks)
        return
    from kb.documents import cutting, markdown  # noqa: F401  # so that every process has them from the start

    context = get_context("fork")
    shares = _shared(sizes, count)
    readers: list[connection.Connection] = []
    children = []
    for number, share in enumerate(shares):
        reader, writer = context.Pipe(duplex=False)
        mine = [tasks[task] for task in share]
        child = context.Process(target=_work, args=(number, mine, writer, [*readers, reader]), daemon=True)
        child.start()
        writer.close()
        readers.append(reader)
        children.append(child)
    try:
        yield from _in_order(tasks, {reader: deque(share) for reader, share in zip(readers, shares, strict=True)})
    finally:
        for reader in readers:
            reader.close()
        for child in children:
            child.join()


def aside(work: Callable[[], T], size: int) -> Callable[[], T]:
    """Begin work in a process of its own, as `prepared` does for as many bytes; return the function that waits for its outcome.

    The work may leave no trace but its outcome, for where the process fails it is done here.
    """
    if _processes(size) < 2:
        return work
    context = get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    child = context.Process(target=_answer, args=(work, writer, reader), daemon=True)
    child.start()
    writer.close()

    def outcome() -> T:
        try:
            found: T = pickle.loads(reader.recv_bytes())
        except (EOFError, OSError):
            found = work()
        finally:
            reader.close()
            child.join()
        return found

    return outcome


def _processes(size: int) -> int:
    """Return how many processes may share work on so many bytes."""
    if size < LEAST_BYTES or threading.active_count() > 1 or "fork" not in get_all_start_methods():
        return 1
    return min(os.cpu_count() or 1, _MOST_PROCESSES)


def _shared(sizes: Sequence[int], count: int) -> list[list[int]]:
    """Return the tasks of each process, in order: each goes to the process that has least to do by then."""
    shares: list[list[int]] = [[] for _ in range(count)]
    given = [0] * count
    for task, size in enumerate(sizes):
        least = given.index(min(given))
        shares[least].append(task)
        given[least] += size
    return shares


def _in_order(tasks: Sequence[Task], waiting: dict[connection.Connection, deque[int]]) -> Iterator[Prepared | None]:
    """Read outcomes as they come, so that no process has to wait with its own, and yield them in the order of the tasks."""
    ready: dict[int, bytes | None] = {}
    own = Preparer(len(waiting))
    for number, task in enumerate(tasks):
        while number not in ready:
            for reader in connection.wait([reader for reader, share in waiting.items() if share]):
                share = waiting[reader]  # type: ignore[index]
                try:
                    outcome = reader.recv_bytes()  # type: ignore[union-attr]
                    ready[share.popleft()] = outcome
                except (EOFError, OSError):  # a process was killed from outside; its files can still be done here
                    ready.update(dict.fromkeys(share))
                    share.clear()
        found = ready.pop(number)
        yield own.prepare(task) if found is None else pickle.loads(found)


def _work(number: int, tasks: Sequence[Task], writer: connection.Connection, inherited: Sequence[connection.Connection]) -> None:
    """Prepare tasks and send each outcome. Ends at once where nobody reads any more."""
    for other in inherited:
        other.close()
    preparer = Preparer(number)
    try:
        for task in tasks:
            writer.send_bytes(pickle.dumps(preparer.prepare(task), protocol=pickle.HIGHEST_PROTOCOL))
    except BaseException:  # the reader is gone, or will do this file itself and say what is wrong
        pass
    finally:
        # Not the ordinary way out: what was inherited (a catalog's connection) belongs to the parent.
        os._exit(0)


def _answer(work: Callable[[], object], writer: connection.Connection, inherited: connection.Connection) -> None:
    """Do work and send its outcome."""
    inherited.close()
    try:
        writer.send_bytes(pickle.dumps(work(), protocol=pickle.HIGHEST_PROTOCOL))
    except BaseException:  # as in `_work`
        pass
    finally:
        os._exit(0)
