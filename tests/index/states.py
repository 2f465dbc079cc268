"""A folder whose every state can be told from an answer, and children that work on it and can be killed."""

from __future__ import annotations

import multiprocessing
import os
import re
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from bases import Base

from kb.answers import SearchAnswer
from kb.base import KnowledgeBase

WITHOUT_REFRESH = '[[collections]]\nname = "docs"\nroot = "docs"\n[index]\nrefresh_ms = 0\n'
"""So that a search answers from the index as it is, whatever the folder holds."""
DOCUMENTS = 24
_FORK = multiprocessing.get_context("fork")


def write_state(base: Base, number: int) -> None:
    """Bring every document of the folder to one state; some are new in it, some are gone."""
    for n in range(DOCUMENTS):
        base.write(
            f"{n:02}.md",
            f"# Document {n}\n\nmarker state{number} word{n} and word{number * n % 7}\n\n## Part\n\nmore words {number}\n",
        )
    for path in base.root.glob("only-*.md"):
        path.unlink()
    base.write(f"only-{number}.md", f"# Only in {number}\n\nmarker state{number}\n")


def states(answer: SearchAnswer) -> set[int]:
    """The states that the snippets of an answer to `marker` show."""
    return {int(found) for result in answer.results for found in re.findall(r"state(\d+)", result.snippet)}


def whole_state(kb: KnowledgeBase) -> int:
    """The one state that an index holds; fails where it holds two or a part of one."""
    answer = kb.search("marker", limit=50)
    (number,) = states(answer)
    assert answer.total == len(answer.results) == DOCUMENTS + 1
    assert f"Only in {number}" in {result.title for result in answer.results}
    return number


def started(work: Callable[[], Any]) -> BaseProcess:
    """Run a function in a child process."""
    child = _FORK.Process(target=work)
    child.start()
    return child


def outcome(work: Callable[[], Any]) -> Any:
    """Run a function in a child process and return what it returns, or the exception it raises."""
    reader, writer = _FORK.Pipe(duplex=False)

    def run() -> None:
        try:
            writer.send(work())
        except Exception as error:
            writer.send(error)

    child = started(run)
    found = reader.recv()
    child.join()
    return found


def index_folder(base: Base) -> Path:
    return next(path.parent for path in base.cache.rglob("catalog.db"))


def files_of(base: Base) -> list[str]:
    """What lies in the index's folder, the catalog's own files left out."""
    folder = index_folder(base)
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and not p.name.startswith("catalog.db"))


def unprivileged() -> int | None:
    """A user that permissions hold for: None where that is the one running the tests, else a user to become."""
    return 65534 if os.geteuid() == 0 else None
