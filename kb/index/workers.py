"""Files prepared in several processes, handed back in order."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Iterator, Sequence
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection

from kb.index.prepare import Prepared, Task, prepare

LEAST_BYTES = 1 << 20
"""Below this much text the processes cost more than they save."""
_MOST_PROCESSES = 8


def prepared(tasks: Sequence[Task], size: int) -> Iterator[Prepared | None]:
    """Yield what `prepare` makes of each task, in order; `size` is the number of bytes in all.

    Processes are forked, and only from a process of one thread: a fork beside other threads may copy a lock that is
    held. Where that is not so, or the text is small, everything is done here.
    """
    count = min(os.cpu_count() or 1, _MOST_PROCESSES)
    if size < LEAST_BYTES or count < 2 or threading.active_count() > 1 or "fork" not in get_all_start_methods():
        yield from map(prepare, tasks)
        return
    import kb.documents.markdown  # noqa: F401  # so that every process has it from the start

    context = get_context("fork")
    readers: list[Connection] = []
    children = []
    for number in range(count):
        reader, writer = context.Pipe(duplex=False)
        child = context.Process(target=_work, args=(tasks[number::count], writer, [*readers, reader]), daemon=True)
        child.start()
        writer.close()
        readers.append(reader)
        children.append(child)
    try:
        for number in range(len(tasks)):
            try:
                outcome = pickle.loads(readers[number % count].recv_bytes())
            except EOFError:  # a process was killed from outside; its files can still be done here
                outcome = prepare(tasks[number])
            yield outcome
    finally:
        for reader in readers:
            reader.close()
        for child in children:
            child.join()


def _work(tasks: Sequence[Task], writer: Connection, inherited: Sequence[Connection]) -> None:
    """Prepare tasks and send each outcome. Ends at once where nobody reads any more."""
    for connection in inherited:
        connection.close()
    try:
        for task in tasks:
            writer.send_bytes(pickle.dumps(prepare(task), protocol=pickle.HIGHEST_PROTOCOL))
    except BaseException:  # the reader is gone, or will do this file itself and say what is wrong
        pass
    finally:
        # Not the ordinary way out: what was inherited (a catalog's connection) belongs to the parent.
        os._exit(0)
