"""A damaged index is named in one line and mended by a rebuild; it never gives a wrong answer or a traceback."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from bases import Base

from index.states import index_folder
from kb.base import KnowledgeBase
from kb.errors import IndexDamaged
from kb.index import arrays
from kb.index.catalog import Catalog
from kb.index.integrity import find_damage

MakeBase = Callable[..., Base]
QUERIES = ["boundary", "marker word3", '"word1 and"', "B.2", "wrod5"]


def truncated(data: bytes) -> bytes:
    return data[: len(data) // 2]


def emptied(data: bytes) -> bytes:
    return b""


def zeroed(data: bytes) -> bytes:
    return bytes(len(data))


def half_zeroed(data: bytes) -> bytes:
    return data[: len(data) // 3] + bytes(len(data) - len(data) // 3)


def overwritten(data: bytes) -> bytes:
    return random.Random(5).randbytes(len(data))


def lengthened(data: bytes) -> bytes:
    return data + b"more"


def of_another_format(data: bytes) -> bytes:
    return data.replace(b'"format": %d' % arrays.FORMAT, b'"format": 9').replace(b"SQLite format 3", b"SQLite format 9")


DAMAGES = [truncated, emptied, zeroed, half_zeroed, overwritten, lengthened, of_another_format]


def filled(make_base: MakeBase) -> Base:
    """A base of two segments, with something dead in the first."""
    base = make_base({f"{n:02}.md": f"# B.{n} Note {n}\n\nmarker word{n} and boundary\n\n## Part\n\nmore\n" for n in range(20)})
    base.kb.index()
    base.write("03.md", "# B.3 Another\n\nmarker word3 instead\n")
    base.kb.index()
    return base


def answers(kb: KnowledgeBase) -> list[object]:
    return [kb.search(query, limit=50).as_json()["results"] for query in QUERIES]


def index_files(base: Base) -> list[Path]:
    return sorted(path for path in index_folder(base).rglob("*") if path.is_file())


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_of_each_file_is_named_and_a_rebuild_mends_it(make_base: MakeBase, damage: Callable[[bytes], bytes]) -> None:
    base = filled(make_base)
    right = answers(base.kb)
    base.close()
    whole = base.place / "whole"
    shutil.copytree(base.cache, whole)
    names = [path.relative_to(base.cache) for path in index_files(base)]
    assert {name.suffix for name in names} >= {".db", ".seg"}
    assert len(names) >= 3
    for name in names:
        shutil.rmtree(base.cache)
        shutil.copytree(whole, base.cache)
        path = base.cache / name
        path.write_bytes(damage(path.read_bytes()))
        with KnowledgeBase(base.path, cache=base.cache) as kb:
            try:
                assert answers(kb) == right  # what can be told to be unharmed, or was made again
            except IndexDamaged as error:
                assert "kb index --rebuild" in str(error)
                assert "\n" not in str(error)
                with suppress(IndexDamaged):  # a run that has nothing to do need not come across it
                    kb.index()
        with KnowledgeBase(base.path, cache=base.cache) as kb:
            kb.index(rebuild=True)
            assert answers(kb) == right
            assert kb.search("marker").warning is None


@pytest.mark.parametrize("suffix", [".seg", ".db"])
def test_the_command_says_in_one_line_what_to_do(make_base: MakeBase, suffix: str) -> None:
    base = filled(make_base)
    base.close()
    path = next(path for path in index_files(base) if path.suffix == suffix)
    path.write_bytes(zeroed(path.read_bytes()))

    def kb(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "kb", *arguments, "--base", str(base.path)]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "KB_CACHE": str(base.cache)}
        )

    found = kb("search", "boundary", "--json")
    assert found.returncode == 3
    assert "damaged" in json.loads(found.stdout)["error"]
    (line,) = found.stderr.splitlines()
    assert line.endswith("run: kb index --rebuild")
    assert kb("index", "--rebuild").returncode == 0
    again = kb("search", "boundary", "--json")
    assert (again.returncode, again.stderr) == (0, "")


def test_a_segment_file_that_is_gone_is_named(make_base: MakeBase) -> None:
    base = filled(make_base)
    base.close()
    next(path for path in index_files(base) if path.suffix == ".seg").unlink()
    with KnowledgeBase(base.path, cache=base.cache) as kb, pytest.raises(IndexDamaged, match=r"missing.*kb index --rebuild"):
        kb.search("boundary")


def test_a_large_file_written_to_since_is_compared_with_its_checksums(
    make_base: MakeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "CHECKED_AT_OPEN", 0)
    base = filled(make_base)
    right = answers(base.kb)
    base.close()
    path = max((path for path in index_files(base) if path.suffix == ".seg"), key=lambda path: path.stat().st_size)
    data = path.read_bytes()
    path.write_bytes(data[:-9] + bytes(9 * [255]))
    with KnowledgeBase(base.path, cache=base.cache) as kb, pytest.raises(IndexDamaged, match="does not match its checksum"):
        kb.search("boundary")
    path.write_bytes(data)  # another time of change, the same content
    with KnowledgeBase(base.path, cache=base.cache) as kb:
        assert answers(kb) == right


def test_damage_that_no_time_of_change_shows_gives_no_traceback_and_is_found_by_a_check(
    make_base: MakeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "CHECKED_AT_OPEN", 0)
    base = filled(make_base)
    right = answers(base.kb)
    base.close()
    path = max((path for path in index_files(base) if path.suffix == ".seg"), key=lambda path: path.stat().st_size)
    data, status, chance = path.read_bytes(), path.stat(), random.Random(11)
    refused = 0
    for _ in range(60):
        at, length = chance.randrange(6000, len(data)), chance.choice([1, 8, 200, 4000])
        path.write_bytes(data[:at] + chance.randbytes(min(length, len(data) - at)) + data[at + length :])
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        with KnowledgeBase(base.path, cache=base.cache) as kb:
            try:
                same = answers(kb) == right
            except IndexDamaged as error:
                assert "kb index --rebuild" in str(error)
                refused, same = refused + 1, False
        catalog = Catalog.open(index_folder(base))
        assert same or any(path.name in line for line in find_damage(catalog))
        catalog.close()
    assert refused


def test_pages_of_the_catalog_overwritten_anywhere_give_no_traceback(make_base: MakeBase) -> None:
    base = filled(make_base)
    base.close()
    path = index_folder(base) / "catalog.db"
    data, chance = path.read_bytes(), random.Random(12)
    refused = 0
    for _ in range(60):
        at, length = chance.randrange(len(data)), chance.choice([1, 16, 400, 9000])
        path.write_bytes(data[:at] + chance.randbytes(min(length, len(data) - at)) + data[at + length :])
        with KnowledgeBase(base.path, cache=base.cache) as kb:
            try:
                answers(kb)
                kb.list()
                kb.tree()
                kb.status()
            except IndexDamaged as error:
                assert "kb index --rebuild" in str(error)
                refused += 1
        for path_ in index_folder(base).glob("catalog.db-*"):
            path_.unlink()
    assert refused
    with KnowledgeBase(base.path, cache=base.cache) as kb:
        kb.index(rebuild=True)
        assert kb.search("boundary").results


def test_an_index_of_another_version_is_made_again(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    base = filled(make_base)
    right = answers(base.kb)
    base.close()
    monkeypatch.setattr("kb.index.fingerprint.ANALYZER_VERSION", "another")
    with KnowledgeBase(base.path, cache=base.cache) as kb:
        assert answers(kb) == right
        assert kb.index().rebuilt is False
