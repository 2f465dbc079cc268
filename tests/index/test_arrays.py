"""Files of arrays come back as they were, or say that they are damaged."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.errors import IndexDamaged
from kb.index.arrays import ArrayFile, dump, write, writing
from kb.index.vocabulary import Vocabulary, pack

ARRAYS = {
    "numbers": np.arange(1000, dtype=np.int32),
    "empty": np.zeros(0, dtype=np.int64),
    "bytes": np.frombuffer(b"some bytes", dtype=np.uint8),
    "one": np.array([2**63 + 1], dtype=np.uint64),
}
STRINGS = st.sets(st.text(max_size=12), max_size=60)


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "a.seg"
    write(path, ARRAYS)
    found = ArrayFile.open(path)
    assert found.size == path.stat().st_size
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert found[name].tolist() == array.tolist()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.seg"]


def test_arrays_written_piece_by_piece_are_those_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.seg"
    with writing(path, len(ARRAYS)) as file:
        first = file.part("bytes", np.uint8)
        for number in ARRAYS["bytes"]:
            first.add(np.array([number], dtype=np.uint8))
        both = [file.part(name, ARRAYS[name].dtype, len(ARRAYS[name])) for name in ("numbers", "one")]
        for start in range(0, 1000, 300):
            both[0].add(ARRAYS["numbers"][start : start + 300])
        both[1].add(ARRAYS["one"])
        file.put("empty", ARRAYS["empty"])
    found = ArrayFile.open(path)
    found.verify()
    for name, array in ARRAYS.items():
        assert found[name].tolist() == array.tolist()


def test_a_file_that_could_not_be_finished_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(KeyError), writing(tmp_path / "a.seg", 1) as file:
        file.put("numbers", ARRAYS["numbers"])
        raise KeyError
    assert [*tmp_path.iterdir()] == []


def test_what_was_read_can_not_be_written_to(tmp_path: Path) -> None:
    write(tmp_path / "a.seg", ARRAYS)
    with pytest.raises(ValueError, match="read-only"):
        ArrayFile.open(tmp_path / "a.seg")["numbers"][0] = 1


def test_a_missing_file_is_missing_not_damaged(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ArrayFile.open(tmp_path / "a.seg")


@given(st.data())
def test_any_change_of_a_file_is_noticed(data: st.DataObject) -> None:
    whole = dump(ARRAYS)
    kind = data.draw(st.sampled_from(["cut", "flip", "zero", "grow"]))
    at = data.draw(st.integers(0, len(whole) - 1))
    if kind == "cut":
        damaged = whole[:at]
    elif kind == "grow":
        damaged = whole + b"\0" * (at + 1)
    elif kind == "zero":
        damaged = whole[:at] + b"\0" * (len(whole) - at)
    else:
        damaged = whole[:at] + bytes([whole[at] ^ (1 << data.draw(st.integers(0, 7)))]) + whole[at + 1 :]
    if damaged == whole:
        return
    try:
        found = ArrayFile(damaged, "a.seg")
    except IndexDamaged as error:
        assert "kb index --rebuild" in str(error)
        assert "\n" not in str(error)
        return
    # What lies between the arrays only aligns them.
    assert all(found[name].tolist() == array.tolist() for name, array in ARRAYS.items())


def test_an_empty_file_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "a.seg").write_bytes(b"")
    with pytest.raises(IndexDamaged, match=r"a\.seg"):
        ArrayFile.open(tmp_path / "a.seg")


@given(STRINGS, STRINGS)
def test_a_vocabulary_finds_what_it_holds_and_nothing_else(held: set[str], others: set[str]) -> None:
    packed, order = pack("term", sorted(held))
    found = Vocabulary(ArrayFile(dump(packed), "a.seg"), "term")
    assert len(found) == len(held)
    assert sorted(found.strings()) == sorted(held)
    assert [sorted(held)[old] for old in order.tolist()] == found.strings()
    for string in held:
        number = found.find(string)
        assert number is not None
        assert found[number] == string
    assert all(found.find(string) is None for string in others - held)


def test_strings_of_one_hash_are_told_apart() -> None:
    # CRC-32 of these two is the same.
    strings = ["plumless", "buckeroo"]
    packed, _ = pack("term", strings)
    assert packed["term_hash"].tolist()[0] == packed["term_hash"].tolist()[1]
    found = Vocabulary(ArrayFile(dump(packed), "a.seg"), "term")
    assert {found[found.find(string) or 0] for string in strings} == set(strings)


def test_a_long_vocabulary_is_searched_exactly() -> None:
    chance = random.Random(0)
    strings = sorted({"".join(chance.choices("abcdeёя", k=chance.randint(1, 9))) for _ in range(5000)})
    packed, _ = pack("word", strings)
    found = Vocabulary(ArrayFile(dump(packed), "a.seg"), "word")
    assert all(found[found.find(string) or 0] == string for string in strings)
