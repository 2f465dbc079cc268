"""Bytes in any usual encoding become text, and what is done to them is said."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.documents.model import FAILED_TITLE
from kb.documents.read import parse


def test_a_mark_and_windows_line_ends_change_nothing() -> None:
    text = "---\ntitle: T\n---\n# A\n\ntext\n\n## B\n- x\n"
    plain = parse("a.md", text.encode())
    assert parse("a.md", b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()) == plain
    assert parse("a.md", text.replace("\n", "\r").encode()) == plain


def test_mixed_line_ends_are_reported_where_they_change() -> None:
    made = parse("a.md", b"# A\r\none\r\ntwo\nthree\n")
    assert made.text == "# A\none\ntwo\nthree\n"
    assert made.warnings == ("a.md:3: line ends are mixed, read as one kind",)


def test_nul_is_removed_and_reported_with_its_line() -> None:
    made = parse("a.md", b"# A\n\nwo\0rd\n")
    assert made.text == "# A\n\nword\n"
    assert made.warnings == ("a.md:3: NUL characters (1 in the file), removed",)


@pytest.mark.parametrize("nul", ["# Nul\n\nwo\0rd and another\n", "# Nul\n\nword\0 and another\n", "# Роль\n\nсло\0во и ещё\n"])
def test_one_nul_does_not_make_a_short_file_utf16(nul: str) -> None:
    for text in (nul, nul.replace("# ", "#  ")):  # the NUL at an even place, and at an odd one
        assert parse("a.md", text.encode()).text == text.replace("\0", "")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_marked_encoding_needs_no_warning(encoding: str) -> None:
    made = parse("a.md", "# Роль\n\nтекст\n".encode(encoding))
    assert (made.text, made.warnings) == ("# Роль\n\nтекст\n", ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "cp1251", "koi8-r", "cp866"])
@pytest.mark.parametrize("text", ["# Роль\n\nГраница системы и контекст\n", "Привет, мир", "МИГРАЦИЯ БАЗЫ ДАННЫХ"])
def test_russian_in_old_encodings_is_read_and_the_encoding_named(encoding: str, text: str) -> None:
    made = parse("a.md", text.encode(encoding))
    assert made.text == text
    assert made.warnings == (f"a.md:1: not UTF-8, read as {encoding.upper() if 'utf' in encoding else encoding}",)


@pytest.mark.parametrize("text", ["Größe und Straße", "café résumé naïve", "ÄÖÜ äöü"])
def test_western_text_in_cp1252_is_read(text: str) -> None:
    assert parse("a.md", text.encode("cp1252")).text == text


def test_a_few_broken_bytes_do_not_spoil_a_utf8_file() -> None:
    made = parse("a.md", "# Роль\n\nтекст ".encode() + b"\xff" + " конец\n".encode())
    assert made.text == "# Роль\n\nтекст \ufffd конец\n"
    assert made.warnings == ("a.md:3: 1 bytes are not UTF-8, each read as \ufffd",)


def test_binary_data_is_an_error_and_stays_visible() -> None:
    made = parse("a.md", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10)
    assert (made.title, made.sections) == (FAILED_TITLE, ())
    assert made.error is not None
    assert made.error.startswith("not text")


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["a.md", "a.html", "a.txt"]))
def test_any_bytes_give_a_document_of_storable_text(data: bytes, source: str) -> None:
    made = parse(source, data)
    made.text.encode("utf-8")
    assert "\0" not in made.text
    assert "\r" not in made.text


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_characters="\0\r\ufeff", exclude_categories=["Cs", "Cc"]), max_size=100))
def test_utf8_comes_back_as_it_was(text: str) -> None:
    assert parse("a.txt", text.encode()).text == text
