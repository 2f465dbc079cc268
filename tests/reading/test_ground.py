from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from bases import temporary
from conftest import MakeBase
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from kb.base import KnowledgeBase
from kb.config import shipped
from kb.errors import ArgumentError, NotFound
from kb.reading.records import GroundAnswer, GroundPassage, span

GOLD = Path(__file__).parents[1] / "gold" / "ground.jsonl"
STORY = "The harbour master counts {n} ships and writes {word} down before the {word} tide turns to the {n} side.\n"


def pages(count: int) -> dict[str, str]:
    """Pages about one subject that each say something of their own."""
    names = "alder birch cedar dogwood elm fir ginkgo hazel ivy juniper larch maple".split()
    return {
        f"{name}.md": f"# {name.title()}\n\nThe harbour keeps {name} timber.\n\n"
        + "".join(f"Line {line} on {name}: {name}{line} {name[::-1]}{line * 7} and {name}{line * 13}.\n" for line in range(12))
        for name in names[:count]
    }


def quoted(base: KnowledgeBase, answer: GroundAnswer) -> None:
    """Every passage stands word for word at its place in its file."""
    roots = {collection.name: collection.root for collection in base.config.collections}
    for passage in answer.passages:
        lines = (roots[passage.collection] / passage.source).read_text(encoding="utf-8").split("\n")
        first, last = passage.lines
        assert passage.text == "\n".join(lines[first - 1 : last])
        assert passage.text.strip()


def fenced(markdown: str) -> list[str]:
    """The fences that a Markdown parser sees at the top of a pack."""
    return [token.content for token in MarkdownIt("commonmark").parse(markdown) if token.type == "fence" and not token.level]


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    return KnowledgeBase(shipped(), cache=tmp_path_factory.mktemp("cache"))


def test_an_expected_section_is_in_the_pack_for_17_of_20_questions_fixed_beforehand(knowledge: KnowledgeBase) -> None:
    questions = [json.loads(line) for line in GOLD.read_text(encoding="utf-8").splitlines()]
    assert len(questions) == 20
    missed = []
    for question in questions:
        answer = knowledge.ground(question["query"])
        assert answer.characters <= 6000
        assert len(answer.markdown) <= 6000
        quoted(knowledge, answer)
        if not {passage.id.partition("#")[0] for passage in answer.passages} & set(question["relevant"]):
            missed.append(question["id"])
    assert len(missed) <= 3, missed


@pytest.mark.parametrize("budget", [200, 300, 700, 1500, 4000, 20_000])
def test_a_pack_is_never_longer_than_its_budget_in_either_form(make_base: MakeBase, budget: int) -> None:
    base = make_base(pages(12))
    answer = base.kb.ground("harbour timber", budget=budget)
    assert len(answer.markdown) <= budget
    assert len(json.dumps(answer.as_json(), ensure_ascii=False, indent=2)) + 1 <= budget
    quoted(base.kb, answer)
    assert len(answer.passages) + answer.omitted_count == 12


def test_what_did_not_fit_is_counted_and_named(make_base: MakeBase) -> None:
    answer = make_base(pages(12)).kb.ground("harbour timber", budget=3000)
    assert answer.passages
    assert 0 < len(answer.omitted) <= answer.omitted_count
    assert not {passage.id for passage in answer.passages} & set(answer.omitted)
    assert answer.as_json()["omitted"] == {"count": answer.omitted_count, "ids": list(answer.omitted)}
    assert f"Omitted for lack of room: {answer.omitted_count}, from `{answer.omitted[0]}`" in answer.markdown


def test_a_first_passage_that_is_too_long_is_cut_after_a_whole_line(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\n" + "".join(f"harbour line {number}\n" for number in range(60))})
    answer = base.kb.ground("harbour", budget=700)
    assert answer.passages[0].text.startswith("harbour line 0\n")
    quoted(base.kb, answer)


def test_a_budget_that_holds_not_even_the_question_is_an_error(make_base: MakeBase) -> None:
    base = make_base(pages(1))
    with pytest.raises(ArgumentError, match="budget 200 has no room for passages: the question alone takes"):
        base.kb.ground("harbour " * 40, budget=200)
    for budget in (0, 199, 1_000_001, True, "6000"):
        with pytest.raises(ArgumentError, match="budget must be from 200 to 1000000 characters, got"):
            base.kb.ground("harbour", budget=budget)  # type: ignore[arg-type]
    for question in ("", "  ", "x" * 8193):
        with pytest.raises(ArgumentError, match="a question has 1 to 8192 characters"):
            base.kb.ground(question)
    assert not base.cache.exists()


def test_near_duplicates_are_taken_once(make_base: MakeBase) -> None:
    body = "The harbour master writes every ship that passes the mole into a book bound in green linen.\n"
    base = make_base({"a.md": f"# A\n\n{body}", "b.md": f"# B\n\n{body}Signed.\n", "c.md": "# C\n\nA harbour has a mole.\n"})
    sources = [passage.source for passage in base.kb.ground("harbour mole").passages]
    assert len({"a.md", "b.md"} & set(sources)) == 1
    assert "c.md" in sources


def test_variants_of_one_id_in_two_languages_count_as_one(make_base: MakeBase) -> None:
    toml = '[[collections]]\nname = "d"\nroot = "docs"\nlanguage = "en"\nlanguages = ["ru"]\n'
    base = make_base(
        {
            "a.md": "---\nid: A\n---\n# Harbour\n\nThe harbour of API ships.\n",
            "ru/a.md": "---\nid: A\n---\n# Гавань\n\nГавань для кораблей API.\n",
        },
        toml,
    )
    assert len(base.kb.ground("API harbour гавань").passages) == 1
    assert len(base.kb.ground("API", ids=["A", "ru/a.md"]).passages) == 1


def test_one_section_does_not_fill_the_pack_while_others_answer_too(make_base: MakeBase) -> None:
    paragraph = "The harbour {0} keeps harbour {0} records of harbour {0} matters, number {0}, in {0} boxes.\n\n"
    files = {"long.md": "# Records\n\n" + "".join(paragraph.format(f"n{number}") * 6 for number in range(12)), **pages(3)}
    sources = [passage.source for passage in make_base(files).kb.ground("harbour").passages]
    assert sources[0] == "long.md"
    assert set(sources) == {"long.md", "alder.md", "birch.md", "cedar.md"}


def test_named_sections_give_the_passages_and_nothing_else_does(make_base: MakeBase) -> None:
    base = make_base(pages(4))
    answer = base.kb.ground("timber", ids=["birch", "cedar.md"])
    assert {passage.source for passage in answer.passages} == {"birch.md", "cedar.md"}
    assert {p.source for p in base.kb.ground("nothing of it", ids=["birch"]).passages} == {"birch.md"}
    with pytest.raises(NotFound, match="section not found: nowhere"):
        base.kb.ground("timber", ids=["nowhere"])


def test_a_short_subsection_gives_its_own_lines(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nintro\n\n## One\n\nfirst\n\n### Deep\n\nsecond\n"})
    (passage,) = base.kb.ground("anything", ids=["a#deep"]).passages
    assert (passage.id, passage.text) == ("a#deep", "### Deep\n\nsecond")
    quoted(base.kb, base.kb.ground("anything", ids=["a#deep"]))


def test_a_question_that_nothing_answers_gives_an_empty_pack(make_base: MakeBase) -> None:
    answer = make_base(pages(2)).kb.ground("qwzx plorf")
    assert (answer.passages, answer.omitted_count) == ((), 0)
    assert answer.markdown == "# Passages for `qwzx plorf`\n"


def test_filters_narrow_what_is_searched(make_base: MakeBase) -> None:
    base = make_base({**pages(2), "t.md": "---\ntype: note\nstatus: draft\n---\n# T\n\nharbour timber\n"})
    assert [passage.source for passage in base.kb.ground("harbour", types=["note"], status="draft").passages] == ["t.md"]
    with pytest.raises(ArgumentError, match="unknown collection 'x'"):
        base.kb.ground("harbour", collections=["x"])


def test_html_is_quoted_as_it_stands_in_the_file(make_base: MakeBase) -> None:
    base = make_base({"a.html": "<h1>Harbour</h1>\n<p>The <b>mole</b> of the\nharbour</p>\n"})
    answer = base.kb.ground("mole")
    assert answer.passages[0].text == "<p>The <b>mole</b> of the\nharbour</p>"
    quoted(base.kb, answer)


HOSTILE = st.lists(
    st.sampled_from(
        ["```", "`````", "~~~", "````text", "</section>", "<system>", "# Heading", "- id: `x`", "harbour", "`", "    code", "> q",
         "\u200b", "\u202e", "<!--", "[x](y)", "$$", "---", "| a | b |"]
    ),
    min_size=1, max_size=25,
)  # fmt: skip


@settings(max_examples=200)
@given(lines=HOSTILE, title=st.text(max_size=30), question=st.text(min_size=1, max_size=30))
def test_no_passage_title_or_question_breaks_out_of_its_place(lines: list[str], title: str, question: str) -> None:
    text = "\n".join(lines)
    passage = GroundPassage("a`b", title, f"{title} > ``x", "c", "a.md", (1, len(lines)), "en", 1.0, text)
    answer = GroundAnswer(question, "keyword", 6000, (passage, passage), 1, ("x`` y",))
    assert fenced(answer.markdown) == [text + "\n"] * 2
    headings = [line for line in _outside(answer.markdown) if line.startswith("#")]
    assert len(headings) == 3


def _outside(markdown: str) -> list[str]:
    """The lines of a pack that stand in no fence, by the rule that a fence ends with as many backticks as it began."""
    out: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif match := re.match(r"`{3,}(?=text$)", line):
            fence = match.group()
        else:
            out.append(line)
    return out


@given(text=st.text(alphabet=st.sampled_from("`ab \n\t\u202e\0"), max_size=20))
def test_a_code_span_is_one_line_that_reads_as_one_span(text: str) -> None:
    (inline,) = [token for token in MarkdownIt("commonmark").parse(f"x {span(text)} y") if token.type == "inline"]
    kinds = [child.type for child in inline.children or ()]
    wanted = " ".join(re.sub("[\u202e\0]", " ", text).split())
    assert "\n" not in span(text)
    if wanted:
        assert kinds == ["text", "code_inline", "text"]
        assert (inline.children or [])[1].content == wanted


@settings(max_examples=40)
@given(lines=HOSTILE, budget=st.integers(250, 3000))
def test_packs_of_hostile_files_are_verbatim_within_budget_and_closed(lines: list[str], budget: int) -> None:
    with temporary({"a.md": "# Harbour\n\nharbour\n" + "\n".join(lines) + "\nharbour\n", **pages(3)}) as base:
        answer = base.kb.ground("harbour", budget=budget)
        quoted(base.kb, answer)
        assert answer.characters <= budget
        assert fenced(answer.markdown) == [passage.text + "\n" for passage in answer.passages]
