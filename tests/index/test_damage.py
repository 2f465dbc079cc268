"""An index that is not what it should be says so in one line, or is made anew; never a traceback, never silence."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from bases import Base

from kb.base import KnowledgeBase
from kb.errors import IndexDamaged

MakeBase = Callable[..., Base]
FILES = {"a.md": "# A\n\nalpha words\n", "b.md": "# B\n\nbeta words\n"}


def folder_of(base: Base) -> Path:
    return next(path.parent for path in base.cache.rglob("catalog.db"))


def reopened(base: Base) -> Base:
    base.close()
    base._opened.clear()
    return base


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"kbarrays" + b"\xff" * 500, b"not an index file"])
def test_a_damaged_segment_is_said_and_a_rebuild_repairs_it(make_base: MakeBase, content: bytes) -> None:
    base = make_base(FILES)
    base.kb.index()
    (segment,) = (folder_of(base) / "segments").iterdir()
    reopened(base)
    segment.write_bytes(content)
    with pytest.raises(IndexDamaged, match="kb index --rebuild") as caught:
        base.search("alpha")
    assert "\n" not in str(caught.value)
    base.kb.index(rebuild=True)
    assert base.ids("alpha") == ["a"]


def test_a_missing_segment_is_said_and_a_rebuild_repairs_it(make_base: MakeBase) -> None:
    base = make_base(FILES)
    base.kb.index()
    next((folder_of(base) / "segments").iterdir()).unlink()
    reopened(base)
    with pytest.raises(IndexDamaged, match="kb index --rebuild"):
        base.search("alpha")
    base.kb.index(rebuild=True)
    assert base.ids("alpha") == ["a"]


@pytest.mark.parametrize("content", [b"\0" * 8192, b"not a database at all" * 300, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_damaged_catalog_is_said_and_a_rebuild_repairs_it(make_base: MakeBase, content: bytes) -> None:
    base = make_base(FILES)
    base.kb.index()
    folder = folder_of(base)
    reopened(base)
    (folder / "catalog.db").write_bytes(content)
    for name in ("catalog.db-wal", "catalog.db-shm"):
        (folder / name).unlink(missing_ok=True)
    with pytest.raises(IndexDamaged, match="kb index --rebuild"):
        base.search("alpha")
    reopened(base)
    base.kb.index(rebuild=True)
    assert base.ids("alpha") == ["a"]


@pytest.mark.parametrize("cut", [100, 4096, 9000])
def test_a_truncated_catalog_never_gives_a_traceback_or_a_wrong_answer(make_base: MakeBase, cut: int) -> None:
    base = make_base(FILES)
    base.kb.index()
    folder = folder_of(base)
    reopened(base)
    path = folder / "catalog.db"
    path.write_bytes(path.read_bytes()[:cut])
    try:
        assert base.ids("alpha") == ["a"]
    except IndexDamaged as error:
        assert "kb index --rebuild" in str(error)
    reopened(base)
    base.kb.index(rebuild=True)
    assert base.ids("alpha") == ["a"]


def test_an_index_of_another_analyzer_is_made_anew(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    base = make_base(FILES)
    base.kb.index()
    monkeypatch.setattr("kb.index.fingerprint.ANALYZER_VERSION", "another")
    assert base.open().index().rebuilt
    monkeypatch.undo()
    assert base.open().search("alpha").results[0].id == "a"


def test_an_index_of_another_schema_is_made_anew(make_base: MakeBase) -> None:
    base = make_base(FILES)
    base.kb.index()
    folder = folder_of(base)
    reopened(base)
    db = sqlite3.connect(folder / "catalog.db")
    db.executescript(
        "DROP TABLE passages; DROP TABLE sections; UPDATE meta SET value = 'of another version' WHERE key = 'fingerprint';"
    )
    db.close()
    assert base.ids("alpha") == ["a"]


def test_where_the_cache_can_not_be_written_the_answer_comes_from_memory_with_a_warning(make_base: MakeBase) -> None:
    base = make_base(FILES)
    base.cache.write_text("a file stands where the folder should be")
    answer = base.search("alpha")
    assert [r.id for r in answer.results] == ["a"]
    assert answer.warning is not None
    assert "KB_CACHE" in answer.warning
    base.write("c.md", "# C\n\nalpha again\n")
    assert base.ids("alpha") == ["a", "c"]
    assert base.kb.status().index == "in memory"


def test_files_that_no_state_names_are_swept(make_base: MakeBase) -> None:
    base = make_base(FILES)
    base.kb.index()
    for n in range(12):
        base.write("a.md", f"# A\n\nalpha words {n}\n")
        base.kb.index()
    files = sorted(path.name for path in (folder_of(base) / "segments").iterdir())
    assert len(files) == base.kb.status().segments
    assert base.ids("alpha") == ["a"]


def test_an_index_deleted_under_an_open_process_is_made_again(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nalpha\n"})
    assert base.ids("alpha") == ["a"]
    shutil.rmtree(base.cache)
    with KnowledgeBase(base.path, cache=base.cache) as other:
        other.index()
        base.write("b.md", "# B\n\nbeta\n")
        assert base.ids("beta") == ["b"]
        assert base.ids("alpha") == ["a"]
        assert [result.id for result in other.search("beta").results] == ["b"]
    shutil.rmtree(base.cache)
    assert base.ids("beta") == ["b"]
