"""Many readers and two writers at once, in several processes of several threads."""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from bases import Base

from index.states import outcome
from kb.answers import SearchAnswer
from kb.base import KnowledgeBase
from kb.errors import IndexBusy
from kb.index import changes

MakeBase = Callable[..., Base]
SECTIONS = 12


def write_atomically(base: Base, writer: str, number: int) -> None:
    """A file of twelve sections that all say the same number; it is there whole or not at all."""
    text = "".join(f"# {writer} {n}\n\nmarker {writer} state{number} word{number % 5}\n\n" for n in range(SECTIONS))
    base.write(f".{writer}.part", text).replace(base.root / f"{writer}.md")


def write(base: Base, writer: str, until: float) -> tuple[int, list[str]]:
    """Write states of one file and index them; return how many, and what went wrong."""
    failures: list[str] = []
    number = 0
    with KnowledgeBase(base.path, cache=base.cache) as kb:
        while time.monotonic() < until:
            number += 1
            write_atomically(base, writer, number)
            try:
                kb.index()
            except IndexBusy:  # what a second writer may say
                continue
            except Exception as error:
                failures.append(repr(error))
    return number, failures


def problems(answer: SearchAnswer, last: dict[str, int]) -> Iterator[str]:
    """What is wrong with an answer: every file must show one whole state, and none older than the last one seen."""
    if answer.total != 2 * SECTIONS + 1:
        yield f"{answer.total} sections"
    for writer in last:
        mine = [result for result in answer.results if result.source == f"{writer}.md"]
        numbers = {int(found) for r in mine for found in re.findall(r"state(\d+)", r.snippet)}
        if len(mine) != SECTIONS or len(numbers) != 1:
            yield f"{writer}: {len(mine)} sections of states {numbers}"
        elif min(numbers) < last[writer]:
            yield f"{writer}: state {numbers} after {last[writer]}"
        else:
            last[writer] = min(numbers)


def read(base: Base, threads: int, until: float) -> tuple[int, list[str]]:
    """Search in several threads that share one object; return how many answers came, and what was wrong with them."""
    failures: list[str] = []
    answers = itertools.count()
    kb = KnowledgeBase(base.path, cache=base.cache)

    def ask() -> None:
        last = {"left": 0, "right": 0}
        while time.monotonic() < until:
            try:
                failures.extend(problems(kb.search("marker", limit=50), last))
            except Exception as error:
                failures.append(repr(error))
            next(answers)

    asking = [threading.Thread(target=ask) for _ in range(threads)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    kb.close()
    return next(answers), failures


def side_by_side(works: list[Callable[[], Any]]) -> list[Any]:
    """What functions return that run at once, each in a process of its own."""
    results: list[Any] = []
    gathering = [threading.Thread(target=lambda work=work: results.append(outcome(work))) for work in works]
    for thread in gathering:
        thread.start()
    for thread in gathering:
        thread.join()
    return results


def readers_and_writers(make_base: MakeBase, processes: int, threads: int, seconds: float) -> None:
    base = make_base({"still.md": "# Still\n\nmarker that never changes\n"})
    for writer in ("left", "right"):
        write_atomically(base, writer, 0)
    base.kb.index()
    base.close()
    until = time.monotonic() + seconds
    results = side_by_side(
        [
            *([lambda: read(base, threads, until)] * processes),
            lambda: write(base, "left", until),
            lambda: write(base, "right", until),
        ]
    )
    assert [found for found in results if not isinstance(found, tuple)] == []
    assert [failure for _, failures in results for failure in failures] == []
    assert len(results) == processes + 2
    assert all(count > 0 for count, _ in results), results
    assert base.open().search("marker", limit=50).as_json() == base.rebuilt().search("marker", limit=50).as_json()


def test_readers_see_whole_states_while_two_write(make_base: MakeBase) -> None:
    readers_and_writers(make_base, 2, 4, 2.0)


@pytest.mark.slow
def test_forty_readers_see_whole_states_while_two_write_for_a_minute(make_base: MakeBase) -> None:
    readers_and_writers(make_base, 4, 10, 60.0)


def test_many_first_openers_make_one_index(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    base = make_base({f"{n}.md": f"# Note {n}\n\nmarker {n}\n" for n in range(30)})
    monkeypatch.setattr(changes, "_DOUBT_NS", 0)  # a file just written is in doubt, and to look at it is to write

    def first() -> int | str:
        with KnowledgeBase(base.path, cache=base.cache) as kb:
            answer = kb.search("marker", limit=50)
            return answer.total if answer.warning is None else answer.warning

    assert side_by_side([first] * 12) == [30] * 12
