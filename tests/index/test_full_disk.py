"""A disk that is full, or a folder that can't be written: a clear word, and the old state still answers."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bases import Base

from index.states import WITHOUT_REFRESH, files_of, index_folder, outcome, unprivileged, whole_state, write_state
from kb.base import KnowledgeBase
from kb.errors import IndexUnwritable
from kb.index.catalog import Catalog

MakeBase = Callable[..., Base]


def limited(size: int, work: Callable[[], Any]) -> Any:
    """Run a function in a process that may write files of at most `size` bytes."""

    def run() -> Any:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        return work()

    return outcome(run)


def indexed(base: Base) -> Any:
    with KnowledgeBase(base.path, cache=base.cache) as kb:
        return kb.index().indexed


def named_files(base: Base) -> list[str]:
    catalog = Catalog.open(index_folder(base))
    try:
        return sorted(f"segments/{row.file}" for row in catalog.segments())
    finally:
        catalog.close()


def test_a_write_that_fails_at_any_size_leaves_the_old_state_and_no_files(make_base: MakeBase) -> None:
    base = make_base(toml=WITHOUT_REFRESH)
    write_state(base, 1)
    assert indexed(base) == 25
    write_state(base, 2)
    refused = 0
    for size in [0, 100, 1000, 4096, 10_000, 20_000, 40_000, 60_000, 80_000, 120_000, 200_000]:
        found = limited(size, lambda: indexed(base))
        if isinstance(found, int):
            assert whole_state(base.open()) == 2
            break
        assert isinstance(found, IndexUnwritable), found
        assert "set KB_CACHE" in str(found)
        assert "\n" not in str(found)
        refused += 1
        assert whole_state(base.open()) == 1
        assert files_of(base) == named_files(base)
    assert refused > 3
    assert indexed(base) in (0, 25)
    assert whole_state(base.open()) == 2
    assert files_of(base) == named_files(base)


def test_a_search_that_can_not_refresh_answers_from_the_old_state_and_says_so(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nalpha words\n", "b.md": "# B\n\nalpha too\n"})
    base.kb.index()  # and is kept open: without the files of a connection a new one needs room for its own
    base.write("a.md", "# A\n\nomega words, more of them\n")

    def search() -> Any:
        with KnowledgeBase(base.path, cache=base.cache) as kb:
            return kb.search("alpha")

    answer = limited(1000, search)
    assert {result.id: result.stale for result in answer.results} == {"a": True, "b": False}
    assert "can't be written" in answer.warning
    assert base.open().search("omega").warning is None


def test_a_first_search_without_room_answers_from_memory(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nalpha words\n"})

    def search() -> Any:
        with KnowledgeBase(base.path, cache=base.cache) as kb:
            return kb.search("alpha")

    for size in (0, 5000, 40_000):
        answer = limited(size, search)
        assert [result.id for result in answer.results] == ["a"]
        assert "answered from memory" in answer.warning
        assert "KB_CACHE" in answer.warning
    assert base.open().search("alpha").warning is None


@pytest.mark.parametrize("size", ["64k", "160k"])
def test_a_small_file_system_fills_up_and_the_old_state_still_answers(make_base: MakeBase, tmp_path: Path, size: str) -> None:
    place = tmp_path / "small"
    place.mkdir()
    mount = shutil.which("mount")
    if (
        mount is None
        or subprocess.run([mount, "-t", "tmpfs", "-o", f"size={size}", "none", place], capture_output=True).returncode
    ):
        pytest.skip("file systems can't be mounted here")
    try:
        base = make_base({f"{n}.md": f"# Note {n}\n\nalpha words {n}\n" for n in range(3)}, toml=WITHOUT_REFRESH)
        with KnowledgeBase(base.path, cache=place) as kb:
            first = kb.search("alpha", limit=50)
        assert first.total == 3
        for n in range(3, 400):
            base.write(f"{n}.md", f"# Note {n}\n\nalpha words {n} " + " ".join(f"w{n}x{m}" for m in range(60)) + "\n")
        with KnowledgeBase(base.path, cache=place) as kb:
            if first.warning is None:  # there was room for the small one
                with pytest.raises(IndexUnwritable, match="free space"):
                    kb.index()
                answer = kb.search("alpha", limit=50)
                assert answer.total == 3
            else:
                assert "answered from memory" in first.warning
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_cache_folder_that_can_not_be_written_is_done_without(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nalpha words\n"})
    base.cache.write_text("a file where the folder should be")
    with KnowledgeBase(base.path, cache=base.cache) as kb:
        answer = kb.search("alpha")
        assert [result.id for result in answer.results] == ["a"]
        assert "answered from memory; set KB_CACHE" in str(answer.warning)
        assert len(str(answer.warning).splitlines()) == 1
        base.write("b.md", "# B\n\nalpha too\n")
        assert kb.search("alpha").total == 2
        with pytest.raises(IndexUnwritable, match="nothing was written; set KB_CACHE"):
            kb.index()


@pytest.mark.parametrize("made", [False, True])
def test_a_read_only_cache_folder_is_done_without(made: bool) -> None:
    # Not below the test's own folder: another user could not reach that.
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        base = Base(place / "base", {"a.md": "# A\n\nalpha words\n"})
        base.cache.mkdir()
        if made:
            base.kb.index()
        base.open(base.place / "elsewhere").search("alpha")  # so that the child, another user, has nothing to import
        base.close()
        for path in [place, base.place, base.root, base.cache, *base.cache.rglob("*"), *base.root.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)

        def search() -> Any:
            if (user := unprivileged()) is not None:
                os.setuid(user)
            with KnowledgeBase(base.path, cache=base.cache) as kb:
                return kb.search("alpha")

        try:
            answer = outcome(search)
        finally:
            for path in [place, base.place, base.cache, *base.cache.rglob("*")]:
                path.chmod(0o755)
        assert [result.id for result in answer.results] == ["a"]
        assert "answered from memory; set KB_CACHE" in answer.warning
