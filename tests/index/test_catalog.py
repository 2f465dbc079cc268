"""The number of the present state is looked up as seldom as it can be, and never an old one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.index.catalog import Catalog


def seen(catalog: Catalog) -> int:
    with catalog.reading():
        number, _ = catalog.state
        assert catalog.generation == number
        return number


def write(catalog: Catalog, number: int) -> None:
    with catalog.writing():
        catalog.set("generation", str(number))


def test_a_reader_sees_the_state_that_another_connection_has_written(tmp_path: Path) -> None:
    reader, writer = Catalog.open(tmp_path), Catalog.open(tmp_path)
    assert seen(reader) == 0
    for number in (3, 8):
        write(writer, number)
        assert (seen(reader), seen(reader)) == (number, number)
    reader.close()
    writer.close()


@pytest.mark.parametrize("kept", [True, False])
def test_a_connection_sees_what_it_has_written_itself(tmp_path: Path, kept: bool) -> None:
    catalog = Catalog.open(tmp_path if kept else None)
    assert seen(catalog) == 0
    for number in (3, 8):
        write(catalog, number)
        assert (seen(catalog), seen(catalog), catalog.generation) == (number, number, number)
    catalog.close()


def test_a_reader_keeps_its_state_for_as_long_as_it_holds_it(tmp_path: Path) -> None:
    reader, writer = Catalog.open(tmp_path), Catalog.open(tmp_path)
    with reader.reading():
        assert reader.state[0] == 0
        write(writer, 5)
        assert (reader.state[0], reader.generation) == (0, 0)
    assert (reader.generation, seen(reader)) == (5, 5)
    reader.close()
    writer.close()


def test_a_write_that_is_taken_back_leaves_the_state_that_was(tmp_path: Path) -> None:
    catalog = Catalog.open(tmp_path)
    write(catalog, 4)

    def broken() -> None:
        with catalog.writing():
            catalog.set("generation", "5")
            assert catalog.state[0] == 5
            raise ValueError("no space")

    with pytest.raises(ValueError, match="no space"):
        broken()
    assert (seen(catalog), catalog.generation) == (4, 4)
    catalog.close()
