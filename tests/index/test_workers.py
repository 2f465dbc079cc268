"""Files prepared in several processes make the index that one process makes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from bases import Base
from pytest import MonkeyPatch

from index.states import outcome
from kb.index import workers
from kb.index.arrays import ArrayFile
from kb.index.catalog import Catalog
from kb.index.prepare import Prepared, Preparer, Task

MakeBase = Callable[..., Base]
WORDS = {
    "en": "boundary contexts the system's of U.BoundedContext trusting holons".split(),
    "de": "Grenze Kontexte die Häuser der U.BoundedContext Straßen und".split(),
    "ru": "граница контекста людей холоны ёлка и U.BoundedContext не".split(),
}
FILES = 40


def write(base: Base) -> None:
    for n in range(FILES):
        language = sorted(WORDS)[n % 3]
        text = " ".join(WORDS[language][(n + k * k) % 8] + ("" if k % 5 else str(n)) for k in range(20 + n))
        base.write(f"{n:02}.md", f"---\nlang: {language}\n---\n# Note {n}\n\n{text}\n\n## Part\n\n{text} {text}\n")


def held(base: Base) -> dict[str, Any]:
    """Index a folder and return all that the index holds of it but times."""
    base.kb.index()
    folder = next(path.parent for path in base.cache.rglob("catalog.db"))
    catalog = Catalog.open(folder)
    found: dict[str, Any] = {}
    for table in ("sections", "passages", "names", "blocks"):
        found[table] = catalog.db.execute(f"SELECT * FROM {table}").fetchall()
    for row in catalog.segments():
        arrays = ArrayFile.open(folder / "segments" / row.file)
        found.update({name: arrays[name].tobytes() for name in arrays._table})
    catalog.close()
    return found


def several(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "LEAST_BYTES", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)


def test_several_processes_make_the_index_that_one_makes(make_base: MakeBase, monkeypatch: MonkeyPatch) -> None:
    one, other = make_base(), make_base()
    write(one)
    write(other)
    alone = held(one)
    several(monkeypatch)
    assert outcome(lambda: held(other)) == alone


def test_what_a_killed_process_leaves_is_done_by_the_one_that_waits(make_base: MakeBase, monkeypatch: MonkeyPatch) -> None:
    one, other = make_base(), make_base()
    write(one)
    write(other)
    alone = held(one)
    several(monkeypatch)
    prepare, parents = Preparer.prepare, set[int]()

    def dying(self: Preparer, task: Task) -> Prepared | None:
        if task.source == "17.md" and os.getpid() not in parents:
            os.kill(os.getpid(), signal.SIGKILL)
        return prepare(self, task)

    def index() -> dict[str, Any]:
        parents.add(os.getpid())
        return held(other)

    monkeypatch.setattr(Preparer, "prepare", dying)
    assert outcome(index) == alone


def test_each_process_is_given_as_many_bytes_as_the_others() -> None:
    sizes = [5, 1, 1, 1, 9, 2, 2, 2, 3]
    shares = workers._shared(sizes, 2)
    assert sorted(task for share in shares for task in share) == list(range(9))
    assert all(share == sorted(share) for share in shares)
    assert {sum(sizes[task] for task in share) for share in shares} <= {12, 13, 14}


def test_work_aside_has_the_outcome_it_would_have_here(monkeypatch: MonkeyPatch) -> None:
    several(monkeypatch)
    assert outcome(lambda: workers.aside(lambda: {"pid": os.getpid()}, 1)() != {"pid": os.getpid()})
    assert outcome(lambda: workers.aside(os.getpid, -1)() == os.getpid())


def test_work_aside_is_done_by_the_one_that_waits_where_its_process_is_killed(monkeypatch: MonkeyPatch) -> None:
    several(monkeypatch)

    def index() -> bool:
        parent = os.getpid()

        def work() -> int:
            if os.getpid() != parent:
                os.kill(os.getpid(), signal.SIGKILL)
            return os.getpid()

        return workers.aside(work, 1)() == parent

    assert outcome(index)


def test_an_error_of_work_aside_is_raised_where_it_is_waited_for(monkeypatch: MonkeyPatch) -> None:
    several(monkeypatch)

    def fails() -> None:
        raise OSError(28, "No space left on device")

    assert outcome(lambda: workers.aside(fails, 1)()).errno == 28
