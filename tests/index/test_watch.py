"""`kb index --watch` follows changes, and does nothing while there are none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from bases import Base

from index.states import index_folder
from kb.base import KnowledgeBase
from kb.index.catalog import Catalog

MakeBase = Callable[..., Base]
pytest.importorskip("watchfiles")


@contextmanager
def watching(base: Base) -> Iterator[subprocess.Popen[str]]:
    """The command as a process; its output is one JSON object a line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kb", "index", "--watch", "--json", "--base", str(base.path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "KB_CACHE": str(base.cache)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a run in the background may ignore it
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())  # type: ignore[no-any-return]


def test_new_changed_renamed_and_deleted_files_are_taken_in(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nalpha\n", "sub/b.md": "# B\n\nbeta\n"})
    with watching(base) as process:
        first = line(process)
        assert (first["indexed"], first["rebuilt"]) == (2, True)
        base.write("a.md", "# A\n\nomega instead\n")
        assert line(process)["indexed"] == 1
        base.write("new/c.md", "# C\n\ngamma\n")
        assert line(process)["indexed"] == 1
        (base.root / "sub/b.md").rename(base.root / "sub/z.md")
        moved = line(process)
        assert (moved["indexed"], moved["removed"]) == (1, 1)
        (base.root / "a.md").unlink()
        assert line(process)["removed"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (0, 130)
    with KnowledgeBase(base.path, cache=base.cache) as kb:
        assert [r.id for r in kb.search("beta").results] == ["sub/z"]
        assert kb.search("alpha").results == ()


def test_a_base_of_one_file_is_followed_when_an_editor_replaces_it(make_base: MakeBase) -> None:
    base = make_base({"spec.md": "# A\n\nalpha\n", "other.md": "# Other\n"})
    base.path = base.root / "spec.md"
    with watching(base) as process:
        assert line(process)["indexed"] == 1
        base.write("other.md", "# Other\n\nnot of this base\n")
        base.write(".spec.md.part", "# A\n\nomega instead\n").replace(base.path)
        assert line(process)["indexed"] == 1
    with KnowledgeBase(base.path, cache=base.cache) as kb:
        assert [r.id for r in kb.search("omega").results] == ["spec"]


def state_of(base: Base) -> tuple[int, list[tuple[str, int]]]:
    catalog = Catalog.open(index_folder(base))
    try:
        return catalog.generation, sorted((path.name, path.stat().st_mtime_ns) for path in base.cache.rglob("*.seg"))
    finally:
        catalog.close()


def idle(base: Base, seconds: float) -> tuple[float, list[str]]:
    """CPU seconds of a watching process over a time in which nothing changes, and what it said."""
    with watching(base) as process:
        line(process)
        time.sleep(3)  # past the look it takes once the watch has begun
        before = state_of(base)
        started = cpu(process.pid)
        time.sleep(seconds)
        used = cpu(process.pid) - started
        assert state_of(base) == before
        process.kill()
        assert process.stdout is not None
        return used, process.stdout.readlines()


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_minute_without_changes_costs_next_to_nothing(make_base: MakeBase) -> None:
    base = make_base({f"{n}.md": f"# Note {n}\n\nwords {n}\n" for n in range(300)})
    used, said = idle(base, 60)
    assert said == []
    assert used < 0.6  # a hundredth of the time
