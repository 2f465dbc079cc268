"""Whoever writes the index may be killed at any moment."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable

import pytest
from bases import Base

from index.states import WITHOUT_REFRESH, files_of, index_folder, started, whole_state, write_state
from kb.base import KnowledgeBase
from kb.index import workers
from kb.index.catalog import Catalog
from kb.index.integrity import find_damage

MakeBase = Callable[..., Base]


def killed_at_random_points(make_base: MakeBase, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    base = make_base(toml=WITHOUT_REFRESH)
    write_state(base, 0)

    def run(rebuild: bool) -> None:
        workers.LEAST_BYTES = 0  # with the processes that prepare files, as for a large folder
        with KnowledgeBase(base.path, cache=base.cache) as kb:
            kb.index(rebuild=rebuild)

    before = time.monotonic()
    child = started(lambda: run(False))
    child.join()
    assert child.exitcode == 0
    duration = time.monotonic() - before
    held, interrupted = 0, 0
    for number in range(1, kills + 1):
        write_state(base, number)
        rebuild = chance.random() < 0.2
        child = started(lambda rebuild=rebuild: run(rebuild))
        time.sleep(chance.uniform(0, 1.1 * duration))
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        interrupted += child.exitcode != 0
        with KnowledgeBase(base.path, cache=base.cache) as kb:
            found = whole_state(kb)
            assert found in (held, number)
            held = found
        if number % 10 == 0:
            catalog = Catalog.open(index_folder(base))
            assert list(find_damage(catalog)) == []
            catalog.close()
    assert interrupted > kills // 4
    with KnowledgeBase(base.path, cache=base.cache) as kb:
        kb.index()
        assert whole_state(kb) == kills
        catalog = Catalog.open(index_folder(base))
        assert files_of(base) == sorted(f"segments/{row.file}" for row in catalog.segments())
        catalog.close()
        kept = kb.search("marker word3 more", limit=50).as_json()
    assert base.rebuilt().search("marker word3 more", limit=50).as_json() == kept


def test_a_killed_run_leaves_the_old_state_or_the_new(make_base: MakeBase) -> None:
    killed_at_random_points(make_base, 12, 1)


@pytest.mark.slow
def test_two_hundred_killed_runs_leave_the_old_state_or_the_new(make_base: MakeBase) -> None:
    killed_at_random_points(make_base, 200, 2)


def test_the_lock_of_a_killed_process_is_free(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nalpha\n"})
    base.kb.index()
    reader, writer = os.pipe()

    def hold() -> None:
        catalog = Catalog.open(index_folder(base))
        with catalog.writing():
            catalog.set("generation", "-5")
            os.write(writer, b"x")
            time.sleep(60)

    child = started(hold)
    assert os.read(reader, 1) == b"x"
    base.write("a.md", "# A\n\nomega now\n")
    assert "another process is writing" in str(base.search("alpha").warning)
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    answer = base.search("omega")
    assert (answer.warning, [result.id for result in answer.results]) == (None, ["a"])
    os.close(reader)
    os.close(writer)
