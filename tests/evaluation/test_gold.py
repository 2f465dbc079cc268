"""Reading gold files, and finding in the base what they name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from bases import Base

from kb.errors import ArgumentError
from kb.evaluation import gold
from kb.evaluation.gold import Question, Unit

MakeBase = Callable[..., Base]
GOOD = '{"id": "q1", "query": "windy", "relevant": ["a.md"], "class": "word", "language": "en"}'


def written(path: Path, *lines: str) -> Path:
    file = path / "gold.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def question(**changes: object) -> str:
    return json.dumps(json.loads(GOOD) | changes)


def test_a_line_becomes_a_question_that_knows_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, "", GOOD)
    assert gold.load(file) == (Question("q1", "windy", ("a.md",), "word", "en", 2),)


def test_class_and_language_may_be_left_out_and_other_keys_are_ignored(tmp_path: Path) -> None:
    file = written(tmp_path, '{"id": "q1", "query": "windy", "relevant": [], "note": 3, "class": null}')
    assert gold.load(file) == (Question("q1", "windy", (), None, None, 1),)


def test_a_byte_order_mark_and_crlf_change_nothing(tmp_path: Path) -> None:
    plain, dressed = tmp_path / "plain.jsonl", tmp_path / "dressed.jsonl"
    plain.write_bytes(f"{GOOD}\n".encode())
    dressed.write_bytes(b"\xef\xbb\xbf" + f"{GOOD}\r\n".encode())
    assert gold.load(plain) == gold.load(dressed)


def test_a_line_separator_inside_a_query_does_not_end_the_line(tmp_path: Path) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_text(json.dumps(json.loads(GOOD) | {"query": "windy\u2028day"}, ensure_ascii=False), encoding="utf-8")
    assert gold.load(file)[0].query == "windy\u2028day"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not valid JSON"),
        ("[1]", "must be an object"),
        (question(id=""), "id must be a text that is not empty, got ''"),
        (question(id=7), "id must be a text that is not empty, got 7"),
        (question(query="  "), "query must be a text that is not empty"),
        (question(query="x" * 8193), "query has 8193 characters; 8192 at most"),
        (question(query="\ud800"), "query holds half of a surrogate pair"),
        (question(relevant="a.md"), "relevant must be a list of ids or source files, got 'a.md'"),
        (question(relevant=[1]), "relevant must be a list of ids or source files, got [1]"),
        (question(relevant=None), "relevant must be a list of ids or source files, got None"),
        (question(**{"class": 1}), "class must be a text that is not empty, got 1"),
        (question(language=""), "language must be a text that is not empty, got ''"),
    ],
)
def test_a_bad_line_is_named_by_file_and_number(tmp_path: Path, line: str, message: str) -> None:
    file = written(tmp_path, question(id="other"), line)
    with pytest.raises(ArgumentError) as caught:
        gold.load(file)
    assert str(caught.value).startswith(f"{file}:2: ")
    assert message in str(caught.value)


def test_an_id_given_twice_names_both_lines(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD, GOOD)
    with pytest.raises(ArgumentError, match=r":2: id 'q1' stands in line 1 too"):
        gold.load(file)


def test_a_file_without_a_question_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="holds no question"):
        gold.load(written(tmp_path, "", "  "))


def test_a_file_that_is_missing_a_folder_or_not_text_is_an_error(tmp_path: Path) -> None:
    binary = tmp_path / "binary.jsonl"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ArgumentError, match="gold file not found"):
        gold.load(tmp_path / "none.jsonl")
    with pytest.raises(ArgumentError, match="gold file can't be read"):
        gold.load(tmp_path)
    with pytest.raises(ArgumentError, match="it is not UTF-8"):
        gold.load(binary)


def judged(base: Base, *relevant: str, collections: tuple[str, ...] = ()) -> gold.Judged:
    questions = [Question("q1", "windy", relevant, None, None, 3)]
    return gold.judge(base.kb, questions, Path("g.jsonl"), collections=collections)[0]


def test_an_id_is_judged_by_section_and_a_source_by_file(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# B.3 - Trust\n\nwindy\n\n## B.3.1 - More\n\ncalm\n"})
    assert judged(base, "B.3").by == "id"
    assert judged(base, "B.3", "B.3.1").units == {Unit("docs", "B.3"), Unit("docs", "B.3.1")}
    assert judged(base, "a.md").by == "source"
    assert judged(base, "a.md").units == {Unit("docs", "a.md")}


def test_a_section_below_hit_level_is_judged_by_the_hit_that_holds_it(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# B.3 - Trust\n\nwindy\n\n## B.3.1 - More\n\ncalm\n\n### B.3.1.1 - Deep\n\nstorm\n"})
    assert judged(base, "B.3.1.1").units == {Unit("docs", "B.3.1")}


def test_language_variants_of_one_id_are_one_unit(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# B.3 - Trust\n\nwindy\n", "de/a.md": "# B.3 - Vertrauen\n\nwindig\n"})
    assert judged(base, "B.3").units == {Unit("docs", "B.3")}


def test_an_id_that_the_base_does_not_hold_is_an_error_and_no_zero(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nwindy\n"})
    with pytest.raises(ArgumentError, match=r"g\.jsonl:3: the base holds no section or file 'B\.99'"):
        judged(base, "a.md", "B.99")


def test_ids_and_files_in_one_question_are_an_error(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# B.3 - Trust\n\nwindy\n"})
    with pytest.raises(ArgumentError, match="mixes section ids and source files"):
        judged(base, "B.3", "a.md")


TWO = """
[[collections]]
name = "one"
root = "docs/one"
[[collections]]
name = "two"
root = "docs/two"
"""


@pytest.fixture
def two(make_base: MakeBase) -> Base:
    return make_base({"one/a.md": "# B.3 - Trust\n\nwindy\n", "two/a.md": "# B.3 - Trust\n\nwindy\n"}, TWO)


@pytest.mark.parametrize("name", ["B.3", "a.md"])
def test_a_name_of_several_collections_must_say_which(two: Base, name: str) -> None:
    with pytest.raises(ArgumentError, match=f"several collections; write {name}@one or {name}@two"):
        judged(two, name)
    assert judged(two, f"{name}@two").units == {Unit("two", name)}
    assert judged(two, name, collections=("one",)).units == {Unit("one", name)}


def test_what_another_collection_holds_is_unknown_in_the_one_asked(two: Base) -> None:
    with pytest.raises(ArgumentError, match=r"no section or file 'B\.3@two' \(in collection one\)"):
        judged(two, "B.3@two", collections=("one",))


def test_an_unknown_collection_is_an_error_even_where_nothing_is_relevant(two: Base) -> None:
    with pytest.raises(ArgumentError, match="unknown collection 'three'; there are: one, two"):
        judged(two, collections=("three",))


def test_the_half_is_the_parity_of_the_crc_of_the_id() -> None:
    # CRC-32 of "a" is e8b7be43, of "d" 98dd4acc.
    halves = {id_: gold.half(Question(id_, "x", (), None, None, 1)) for id_ in ("a", "d")}
    assert halves == {"a": "test", "d": "dev"}
