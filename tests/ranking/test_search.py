"""What a search finds, in which order, and what it never returns."""

from __future__ import annotations

import json
import math
import random
import unicodedata
from collections.abc import Callable

import pytest
from bases import Base, temporary
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.analysis import words
from kb.errors import ArgumentError

MakeBase = Callable[..., Base]


def texts(*bodies: str, **named: str) -> dict[str, str]:
    """One file a body, each with a title that says nothing."""
    files = {f"n{number}.md": f"# Note {number}\n\n{body}\n" for number, body in enumerate(bodies)}
    return files | {f"{name}.md": f"# Note\n\n{body}\n" for name, body in named.items()}


# -- scores and tiny bases ---------------------------------------------------------------------------------------


def test_in_two_documents_the_one_with_the_words_is_found_and_the_other_absent(make_base: MakeBase) -> None:
    base = make_base({"a.txt": "Hello there good man!", "b.txt": "It is quite windy in London"})
    answer = base.search("windy London")
    assert [r.id for r in answer.results] == ["b"]
    assert answer.results[0].score > 0
    assert answer.total == 1


def test_a_word_in_half_of_the_documents_scores_above_zero(make_base: MakeBase) -> None:
    base = make_base({"a.txt": "apple one", "b.txt": "apple two", "c.txt": "pear three", "d.txt": "pear four"})
    answer = base.search("apple")
    assert [r.id for r in answer.results] == ["a", "b"]
    assert all(r.score > 0 for r in answer.results)


def test_a_word_in_every_document_finds_all_with_equal_scores(make_base: MakeBase) -> None:
    base = make_base({f"{name}.txt": f"common {name}{name}{name}" for name in "abcd"})
    answer = base.search("common")
    assert [r.id for r in answer.results] == ["a", "b", "c", "d"]
    assert len({r.score for r in answer.results}) == 1
    assert answer.results[0].score > 0


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.md": "", "b.txt": "", "c.html": ""},
        {"a.md": "---\ntitle: A\n---\n", "b.md": "---\nid: B.3\n---\n"},
        {"a.md": "\n\n  \n"},
        {"a.md": "<!-- nothing -->\n"},
        {"a.pdf": "x"},
    ],
)
@pytest.mark.parametrize("query", ["windy London", '"windy"', "-windy", "B.3x", "()*"])
def test_a_base_without_text_answers_with_an_empty_list(make_base: MakeBase, files: dict[str, str], query: str) -> None:
    base = make_base(files)
    answer = base.search(query)
    assert (answer.results, answer.total) == ((), 0)
    assert base.kb.status().collections[0].sections == 0
    assert base.kb.status().collections[0].passages == 0


def test_a_limit_above_the_number_of_sections_gives_what_there_is(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# One\n\ncontext\n\n# Two\n\ncontext\n"})
    assert len(base.search("context", limit=20).results) == 2


@pytest.mark.parametrize("query", ["qwzx", "qwzx plorf", "()*", "***", "…", "-", '"qwzx plorf"', '"context qwzx"'])
def test_what_shares_nothing_finds_nothing(make_base: MakeBase, query: str) -> None:
    answer = make_base(texts("context of a system", "another text")).search(query)
    assert (answer.results, answer.total) == ((), 0)


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\u00a0"])
def test_a_blank_query_is_an_error_that_says_so(make_base: MakeBase, query: str) -> None:
    with pytest.raises(ArgumentError, match="query is empty"):
        make_base({}).search(query)


def test_the_length_of_a_query_is_counted_in_characters_once_trimmed(make_base: MakeBase) -> None:
    base = make_base(texts("ёлка"))
    assert base.ids(" " * 50 + "ё" * 8192 + " " * 50) == []
    assert base.ids("ёлка " * 1638) == ["n0"]
    with pytest.raises(ArgumentError, match="8193 characters; 8192 at most"):
        base.search("ё" * 8193)


@pytest.mark.parametrize(("name", "value"), [("limit", 0), ("limit", 51), ("limit", -1), ("offset", -1), ("limit", True)])
def test_a_limit_or_offset_out_of_bounds_is_an_error_that_names_it(make_base: MakeBase, name: str, value: int) -> None:
    with pytest.raises(ArgumentError, match=f"^{name} must be"):
        make_base({}).search("x", **{name: value})


def test_arguments_are_checked_before_any_file_is_touched(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n"})
    kb = base.open()
    for wrong in ({"limit": 0}, {"limit": 51}, {"offset": -1}, {"language": "german"}, {"collections": ["nope"]}):
        with pytest.raises(ArgumentError):
            kb.search("word", **wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError):
        kb.search("")
    assert not base.cache.exists()


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("быть или не быть", "ru"),
        ("to be or not to be", "en"),
        ("die der das", "de"),
        ("The Who", "en"),
        ("the", "en"),
        ("и", "ru"),
    ],
)
def test_function_words_count_while_nothing_else_is_there(make_base: MakeBase, query: str, language: str) -> None:
    files = {
        "hamlet.md": "# Hamlet\n\nto be, or not to be: that is the question\n",
        "гамлет.md": "# Гамлет\n\nБыть или не быть, и вот вопрос\n",
        "artikel.md": "# Artikel\n\nDie Wörter der, die und das sind Artikel\n",
        "band.md": "# Band\n\nThe Who are a band\n",
        "other.md": "# Other\n\nsomething else entirely\n",
    }
    found = make_base(files).ids(query)
    expected = {"ru": {"gamlet"}, "de": {"artikel"}, "en": {"band", "hamlet"}}[language]
    assert set(found) & expected
    assert "other" not in found


def test_function_words_are_set_aside_while_something_else_is_there(make_base: MakeBase) -> None:
    base = make_base(texts("the of and the boundary", "the of and the weather"))
    assert base.ids("the boundary of the") == ["n0"]


def test_a_band_is_found_by_its_whole_name(make_base: MakeBase) -> None:
    base = make_base({"band.md": "# The Who\n\nA band from London.\n", "other.md": "# Other\n\nIt is the text.\n"})
    assert base.ids("The Who")[0] == "band"


def test_ten_equal_sections_come_by_id_and_pages_agree(make_base: MakeBase) -> None:
    base = make_base({f"s{n}.txt": "the same words about a boundary" for n in (3, 9, 1, 7, 0, 5, 2, 8, 4, 6)})
    all_ten = base.search("boundary", limit=10)
    assert [r.id for r in all_ten.results] == [f"s{n}" for n in range(10)]
    assert len({r.score for r in all_ten.results}) == 1
    pages = base.search("boundary", limit=5).results + base.search("boundary", limit=5, offset=5).results
    assert pages == all_ten.results
    assert json.dumps(base.rebuilt().search("boundary", limit=10).as_json()) == json.dumps(all_ten.as_json())
    assert base.search("boundary", limit=5, offset=10).results == ()
    assert base.search("boundary", limit=5, offset=10).total == 10


def test_pages_of_many_ties_and_segments_agree(make_base: MakeBase) -> None:
    base = make_base({f"s{n:02}.txt": f"boundary {'word ' * (n % 3)}" for n in range(30)})
    base.kb.index()
    for n in range(5):
        base.write(f"t{n}.txt", "boundary word")
        base.kb.index()
    whole = base.search("boundary", limit=50).results
    assert len(whole) == 35
    for size in (1, 4, 7):
        joined = [r for at in range(0, 35, size) for r in base.search("boundary", limit=size, offset=at).results]
        assert joined == list(whole)


def test_scores_fall_and_are_finite(make_base: MakeBase) -> None:
    chance = random.Random(1)
    base = make_base(
        {f"{n}.txt": " ".join(chance.choices("alpha beta gamma delta".split(), k=chance.randint(1, 30))) for n in range(40)}
    )
    scores = [r.score for r in base.search("alpha delta", limit=50).results]
    assert scores == sorted(scores, reverse=True)
    assert all(math.isfinite(score) and score > 0 for score in scores)


def test_all_collections_named_is_none_named(make_base: MakeBase) -> None:
    base = make_base(
        toml='[[collections]]\nname = "one"\nroot = "docs/one"\n[[collections]]\nname = "two"\nroot = "docs/two"\n',
        files={"one/a.md": "# A\n\nboundary one\n", "two/b.md": "# B\n\nboundary two\n", "two/a.md": "# A\n\nboundary\n"},
    )
    none = base.search("boundary", limit=50).results
    for order in (["one", "two"], ["two", "one"]):
        assert base.search("boundary", limit=50, collections=order).results == none
    assert [r.collection for r in base.search("boundary", collections=["two"]).results] == ["two", "two"]
    assert {(r.id, r.collection) for r in none} == {("a", "one"), ("a", "two"), ("b", "two")}


# -- words and queries -------------------------------------------------------------------------------------------

IDENTIFIERS = {
    "dec.md": "# Decision\n\nDEC-0054 apply_secrets __init__\n",
    "versions.md": "# Versions\n\nFixed in 1.0.21, dated 2026.4.10.\n",
    "paths.md": "# Paths\n\nSee src/db.ts and @scope/pkg.\n",
    "context.md": "# Types\n\nThe type U.BoundedContext is written in C++, C# or R.\n",
    "ya.md": "# Местоимение\n\nПоследняя буква алфавита: я.\n",
    "words.md": "# Values\n\nconstructor __proto__ None null NaN true\n",
    "schema.md": "# Schema\n\ndatabase schema migration\n",
    "cr.md": "# A.6.3.CR - Constraint rules\n\nRules.\n\n"
    "# A.1 - Holons\n\nWholes.\n\n# A.1.1 - Roles\n\nMasks.\n\n# A.10 - Evidence\n\n"
    "A.1 A.1 A.1 evidence about A.1\n",
}


@pytest.fixture(scope="module")
def identifiers():  # type: ignore[no-untyped-def]
    with temporary(IDENTIFIERS) as base:
        yield base


@pytest.mark.parametrize(
    ("query", "id_"),
    [
        ("DEC-0054", "dec"), ('"DEC-0054"', "dec"), ("dec 0054", "dec"), ("dec-0054", "dec"), ("apply_secrets", "dec"),
        ("apply secrets", "dec"), ("__init__", "dec"), ("init", "dec"), ('"__init__"', "dec"),
        ("1.0.21", "versions"), ('"1.0.21"', "versions"), ("2026.4.10", "versions"), ('"2026.4.10"', "versions"),
        ("src/db.ts", "paths"), ('"src/db.ts"', "paths"), ("db.ts", "paths"), ("@scope/pkg", "paths"), ("scope/pkg", "paths"),
        ("U.BoundedContext", "context"), ("BoundedContext", "context"), ("bounded context", "context"), ("R", "context"),
        ("C++", "context"), ("C#", "context"), ('"C++"', "context"), ('"C#"', "context"), ("я", "ya"), ("Я", "ya"),
        ("constructor", "words"), ("__proto__", "words"), ("None", "words"), ("null", "words"),
        ("NaN", "words"), ("true", "words"),
        ("migration database", "schema"),
        ("A.6.3.CR", "A.6.3.CR"), ("a.6.3.cr", "A.6.3.CR"), ("A.1.1", "A.1.1"),
        ("A.1", "A.1"), ('"A.1"', "A.1"), ("A.10", "A.10"),
        ("A.1 holons", "A.1"), ("evidence A.1.1", "A.1.1"),
    ],
)  # fmt: skip
def test_an_identifier_finds_its_section_first(identifiers: Base, query: str, id_: str) -> None:
    assert identifiers.ids(query)[0] == id_


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("Мы едем в субботу", ["суббота", "субботы"]),
        ("миграции данных", ["миграция"]),
        ("многие люди", ["человек", "людей"]),
        ("семь дней", ["день"]),
        ("свойства холонов", ["холон", "холона", "холоны"]),
        ("Пётр ставит ёлку", ["Петр", "петр", "Пе\u0308тр", "елка", "ЁЛКА"]),
        ("Петр ставит елку", ["Пётр", "ёлка"]),
        ("новый КОНТЕКСТ", ["контекст", "контекста"]),
        ("die Grenzen", ["Grenze"]),
        ("das sind die Systeme und die Häuser", ["System", "Haus"]),
        ("eine lange Straße", ["Strasse", "strassen"]),
        ("eine lange Strasse", ["Straße"]),
        ("die sehr große Welt", ["gross", "groß"]),
        ("中文合約轉換體驗課問題", ["合約", "轉換體驗"]),
        ("서비스 배포 방법", ["배포"]),
        ("café in München, Пароль Сергей", ["café", "München", "пароль", "Сергей", "cafe\u0301"]),
        ("масло масляное, как дела и роль", ["масло масляное", "роль", "как дела"]),
    ],
)
def test_a_word_is_found_by_its_other_forms_and_spellings(make_base: MakeBase, text: str, queries: list[str]) -> None:
    base = make_base(
        {"x.md": f"# Q\n\n{text}\n", "other.md": "# Z\n\nzzz yyy\n", "other-ru.md": "# Й\n\nэтот текст и есть другой\n"}
    )
    for query in queries:
        assert base.ids(query)[:1] == ["x"], query
        shown = base.search(query).results[0]
        assert shown.snippet == text
        assert shown.highlights


def test_a_german_compound_is_found_by_its_part(make_base: MakeBase) -> None:
    base = make_base({"x.md": "# Notiz\n\nDie Kontextgrenze ist nicht die Systemgrenze und auch nicht das Haus.\n"})
    assert base.ids("Grenze") == ["x"]


def test_three_languages_in_one_folder_each_by_its_own_rules(make_base: MakeBase) -> None:
    base = make_base(
        {
            "ru.md": "# Заметка\n\nЭто о контекстах, и не о чём больше: они и есть границы.\n",
            "en.md": "# Note\n\nThis is about contexts, and they are the boundaries of it all.\n",
            "de.md": "# Notiz\n\nDas ist über Kontexte, und sie sind die Grenzen von dem allen.\n",
        }
    )
    assert {r.id: r.language for r in base.search("контекст context Kontext").results} == {"ru": "ru", "en": "en", "de": "de"}
    assert base.ids("boundary") == ["en"]
    assert base.ids("граница") == ["ru"]
    assert base.ids("Grenze") == ["de"]


@pytest.mark.parametrize(
    ("text", "typo", "corrected"),
    [
        ("граница системы", "гарница", "граница"),
        ("a boundary here", "boundray", "boundary"),
        ("die Grenze hier", "Grneze", "Grenze"),
        ("домик", "дамик", "домик"),
        ("house", "hiuse", "house"),
        ("migration", "migartoin", "migration"),
        ("миграция", "миграцыя", "миграция"),
    ],
)
def test_a_misspelt_word_is_corrected_and_the_answer_says_so(make_base: MakeBase, text: str, typo: str, corrected: str) -> None:
    base = make_base({"x.md": f"# Q\n\n{text}\n", "y.md": "# Z\n\nother things entirely\n"})
    answer = base.search(typo)
    assert [r.id for r in answer.results] == ["x"]
    assert answer.corrected == corrected


def test_a_typo_counts_characters_in_every_script(make_base: MakeBase) -> None:
    base = make_base(texts("house домик"))
    for one_edit in ("hause", "домак"):
        assert base.ids(one_edit) == ["n0"]
    for two_edits in ("hiyse", "дамак"):
        assert base.ids(two_edits) == []
    for short in ("hou", "дом"):
        assert base.search(short).corrected is None


@pytest.mark.parametrize("query", ["DEC-0055", "1.0.22", "abc123", "src/dd.ts"])
def test_numbers_and_identifiers_are_never_corrected(identifiers: Base, query: str) -> None:
    assert identifiers.search(query).corrected is None


def test_a_known_word_is_not_corrected(make_base: MakeBase) -> None:
    answer = make_base(texts("form and from", "form form from")).search("form")
    assert answer.corrected is None


def test_a_phrase_must_occur_word_after_word(make_base: MakeBase) -> None:
    base = make_base(texts("trust calculus here", "calculus of trust", "trust in a calculus", "trust-calculus"))
    assert set(base.ids('"trust calculus"')) == {"n0", "n3"}
    assert set(base.ids("trust calculus")) == {"n0", "n1", "n2", "n3"}
    assert base.ids('"calculus of trust" "in a"') == []


def test_a_phrase_finds_other_forms_and_the_title(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# Границы контекста\n\nтекст\n", "b.md": "# Другое\n\nграница и контекст\n"})
    assert base.ids('"граница контекста"') == ["a"]


def test_a_phrase_of_function_words_must_occur_too(make_base: MakeBase) -> None:
    base = make_base(texts("to be or not to be", "be to not or"))
    assert base.ids('"to be or not"') == ["n0"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("the oﬃce of ﬁre", "office fire"),
        ("office fire", "oﬃce ﬁre"),
        ("Ｔｒｕｓｔ ２０２６", "trust 2026"),
        ("trust 2026", "Ｔｒｕｓｔ ２０２６"),
        ("das ist eine Wort\u00adteilung und nicht der Rest", "Wortteilungen"),
        ("это и есть доверие¹, как и всё", "доверия"),
        ("E = mc²", "mc2"),
        ("E = mc2", "mc²"),
        ("ｶﾞｷﾞｸﾞ", "ガギ"),
    ],
)
def test_compatible_signs_are_found_by_plain_ones_and_the_other_way_round(make_base: MakeBase, text: str, query: str) -> None:
    base = make_base(texts(text, "nothing of it"))
    answer = base.search(query)
    assert [result.id for result in answer.results] == ["n0"]
    assert answer.corrected is None
    assert len(answer.results[0].highlights) == len(words.find(query))


def test_an_excluded_word_leaves_its_sections_out(make_base: MakeBase) -> None:
    base = make_base(texts("windy London", "windy Berlin", "windy Londons"))
    assert base.ids("windy -London") == ["n1"]
    assert base.ids("windy -berlin -londons") == []
    assert base.ids("-windy") == []
    assert set(base.ids("windy -qwzx")) == {"n0", "n1", "n2"}


def test_an_excluded_phrase_leaves_out_the_sections_in_which_it_stands_word_after_word(make_base: MakeBase) -> None:
    base = make_base(texts("the weakest link of trust", "a weak link, the weakest", "links of trust"))
    assert set(base.ids("link")) == {"n0", "n1", "n2"}
    assert set(base.ids('link -"weakest link"')) == {"n1", "n2"}
    assert base.ids('link -"weakest links" -"of trust"') == ["n1"]
    assert set(base.ids('link -"link weakest"')) == {"n0", "n1", "n2"}
    assert base.ids('"of trust" -"weakest link"') == ["n2"]
    assert base.ids('-"weakest link"') == []
    assert base.search('link -"weakest link"').total == 2


def test_a_phrase_in_a_title_is_excluded_too(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# Границы контекста\n\nтекст\n", "b.md": "# Другое\n\nтекст, граница и контекст\n"})
    assert base.ids('текст -"граница контекста"') == ["b"]


def test_an_excluded_identifier_is_excluded_whole(make_base: MakeBase) -> None:
    base = make_base(texts("the file src/db.ts", "the file src/web.ts"))
    assert base.ids("file -src/db.ts") == ["n1"]


def test_titles_and_aliases_are_found_and_weigh_more(make_base: MakeBase) -> None:
    base = make_base(
        {
            "a.md": "---\naliases: [трастометр, gauge of trust]\n---\n# Calculus\n\ntext about numbers\n",
            "b.md": "# Other\n\ncalculus calculus numbers and gauge\n",
        }
    )
    assert base.ids("трастометр") == ["a"]
    assert base.ids("calculus")[0] == "a"
    assert base.ids('"gauge of trust"') == ["a"]


def test_names_in_another_language_are_found_in_its_forms(make_base: MakeBase) -> None:
    base = make_base(
        {
            "a.md": "---\nlang: en\naliases: {de: [Bezeichnungen]}\nquestions: {ru: [чем люди заняты]}\n---\n# Labels\n\ntext\n",
        }
    )
    assert base.ids("Bezeichnung") == ["a"]
    assert base.ids("человек") == ["a"]


def test_subsections_never_crowd_out_the_rest_and_are_named(make_base: MakeBase) -> None:
    deep = "".join(f"### Part {n}\n\nboundary boundary number {n}\n\n" for n in range(5))
    base = make_base({"a.md": f"# A\n\n## B.1 Main\n\n{deep}", "b.md": "# B\n\nboundary once\n"})
    answer = base.search("boundary", limit=5)
    assert sorted(r.id for r in answer.results) == ["B.1", "b"]
    hit = next(r for r in answer.results if r.id == "B.1")
    assert hit.passage is not None
    only = base.search("boundary 3").results[0]
    assert only.id == "B.1"


def test_the_passage_names_the_deepest_section_and_its_lines(make_base: MakeBase) -> None:
    filler = "filler words without meaning " * 60
    base = make_base({"a.md": f"# A\n\n## One\n\n{filler}\n\n### Inner\n\n{filler}\n\nthe needle stands here\n"})
    hit = base.search("needle").results[0]
    assert (hit.id, hit.passage and hit.passage.id) == ("a#one", "a#inner")
    assert hit.passage is not None
    assert hit.passage.lines[0] <= 11 <= hit.passage.lines[1]
    lines = (base.root / "a.md").read_text().split("\n")
    assert any("needle" in line for line in lines[hit.passage.lines[0] - 1 : hit.passage.lines[1]])


def test_filters_narrow_by_type_status_and_language(make_base: MakeBase) -> None:
    base = make_base(
        {
            "a.md": "---\ntype: note\nstatus: draft\nlang: en\n---\n# A\n\ncontext\n",
            "b.md": "---\ntype: rule\nstatus: final\nlang: de\n---\n# B\n\ncontext\n",
            "c.md": "# C\n\ncontext\n",
        }
    )
    assert base.ids("context", types=["note"]) == ["a"]
    assert base.ids("context", types=["note", "rule"]) == ["a", "b"]
    assert base.ids("context", status="final") == ["b"]
    assert base.ids("context", language="de") == ["b"]
    assert base.search("context", types=["note"]).total == 1
    with pytest.raises(ArgumentError, match="unknown type 'nope'; there are: note, rule"):
        base.search("context", types=["nope"])
    with pytest.raises(ArgumentError, match="unknown status 'nope'; there are: draft, final"):
        base.search("context", status="nope")
    with pytest.raises(ArgumentError, match="unknown language 'xx'; there are: de, en"):
        base.search("context", language="xx")


def test_language_variants_are_one_hit_in_the_language_that_matched(make_base: MakeBase) -> None:
    base = make_base(
        {
            "a.md": "# B.3 Trust\n\nThe trust of it all is in the context.\n",
            "ru/a.md": "# B.3 Доверие\n\nДоверие и контекст, и не только.\n",
            "de/a.md": "# B.3 Vertrauen\n\nDas Vertrauen ist nicht der Kontext.\n",
        }
    )
    for query, language in (("trust", "en"), ("доверие", "ru"), ("Vertrauen", "de")):
        answer = base.search(query)
        assert [(r.id, r.language, r.languages) for r in answer.results] == [("B.3", language, ("de", "en", "ru"))]
        assert answer.total == 1
    assert base.search("trust доверие Vertrauen").total == 1
    assert [r.language for r in base.search("B.3").results] == ["en"]


VARIANTS = {
    "qdrant.md": "---\nid: outgrown\n---\n# Several machines\n\nWhere one machine is not enough, put Qdrant into the settings.\n",
    "de/qdrant.md": "---\nid: outgrown\n---\n# Mehrere Maschinen\n\nReicht die Maschine nicht: Qdrant. Die Einstellung.\n",
    "ru/qdrant.md": "---\nid: outgrown\n---\n# Много машин\n\nКогда машины мало, Qdrant. Настройка.\n",
    "other.md": "# Other\n\nNothing of the kind, and the settings.\n",
}


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("qdrant", "en"),  # stands in all three, and shortest in Russian
        ("Qdrant Einstellung", "de"),  # what lies flat lacks a word of it
        ("how do I set up qdrant", "en"),
        ("wie richte ich qdrant ein", "de"),
        ("как подключить qdrant", "ru"),
        ("qdrant машины", "ru"),
        ("für qdrant", "de"),
        ("the setting of Maschinen and машины", "en"),
    ],
)
def test_of_variants_the_one_in_the_language_of_the_question_is_shown(make_base: MakeBase, query: str, language: str) -> None:
    toml = '[[collections]]\nname = "docs"\nroot = "docs"\nlanguages = ["de", "ru"]\n'
    found = make_base(VARIANTS, toml=toml).search(query).results[0]
    assert (found.id, found.language) == ("outgrown", language)
    assert found.source == {"en": "qdrant.md", "de": "de/qdrant.md", "ru": "ru/qdrant.md"}[language]
    assert found.passage is not None
    assert "Qdrant" in found.snippet


def test_which_variant_is_shown_changes_no_score_and_no_explanation(make_base: MakeBase) -> None:
    base = make_base(VARIANTS, toml='[[collections]]\nname = "docs"\nroot = "docs"\nlanguages = ["de", "ru"]\n')
    found = base.search("qdrant", explain=True).results[0]
    alone = base.search("qdrant", language="ru").results[0]
    assert (found.language, alone.language) == ("en", "ru")
    assert found.score == alone.score
    assert found.explanation is not None
    assert sum(part["score"] for part in found.explanation.values()) == pytest.approx(found.score, abs=1e-4)


def test_a_variant_that_a_phrase_an_exclusion_or_a_filter_leaves_out_is_not_shown(make_base: MakeBase) -> None:
    base = make_base(VARIANTS, toml='[[collections]]\nname = "docs"\nroot = "docs"\nlanguages = ["de", "ru"]\n')
    assert base.search('the "Qdrant. Настройка"').results[0].language == "ru"
    assert base.search("qdrant -settings -настройка").results[0].language == "de"
    assert base.search("how is qdrant set up", language="ru").results[0].language == "ru"


def test_a_variant_that_was_just_written_is_shown_like_the_others(make_base: MakeBase) -> None:
    toml = '[[collections]]\nname = "docs"\nroot = "docs"\nlanguages = ["de", "ru"]\n'
    base = make_base({name: text for name, text in VARIANTS.items() if name != "qdrant.md"}, toml=toml)
    assert base.search("what is qdrant").results[0].language == "ru"
    base.write("qdrant.md", VARIANTS["qdrant.md"])
    assert base.search("what is qdrant").results[0].language == "en"
    (base.root / "qdrant.md").unlink()
    assert base.search("what is qdrant").results[0].language == "ru"


def test_noise_does_not_rank(make_base: MakeBase) -> None:
    footer = "All rights reserved by the zebra company.\n"
    files = {f"{n}.md": f"# Note {n}\n\ntext {n}\n\n{footer}" for n in range(8)}
    files["own.md"] = "---\nsecret: quokka\n---\n# Own\n\n<!-- wombat -->\n\n{numbat}\n\nsomething of its own\n"
    base = make_base(files)
    for word in ("zebra", "quokka", "wombat", "numbat"):
        assert base.ids(word) == [], word


def test_tables_and_text_between_rules_rank(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\n| animal | food |\n|---|---|\n| okapi | leaves |\n\n---\n\nbetween tapir rules\n\n---\n"})
    assert base.ids("okapi") == ["a"]
    assert base.ids("tapir") == ["a"]


# -- every word of every section ---------------------------------------------------------------------------------

_SCRIPTS = [
    "abcdefghijklmnopqrstuvwxyz", "äöüßéèñçşığåø", "абвгдеёжзийклмнопрстуфхцчшщъыьэюя", "їєґі", "αβγδεζηθικλμνξοπρστυφχψωάέή",
    "אבגדהוזחטיכלמנסעפצקרשת", "ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "कखगघचछजझटठडढतथदधनपफबभमयरलवसहािीुूेैोौ्", "กขคงจฉชซดตถทนบปผพภมยรลวสหอะาิีุู",
    "배포서비스시스템경계합의", "合約轉換體驗課問題系统边界", "かなカナシステム", "ՀայաստանԲարեւ", "தமிழ்மொழி", "0123456789",
]  # fmt: skip
_LETTER_WORDS = st.sampled_from(_SCRIPTS).flatmap(lambda script: st.text(script, min_size=1, max_size=14))
_CASES = st.sampled_from([str, str.upper, str.title, str.capitalize, lambda w: unicodedata.normalize("NFD", w)])
_SIGNED = st.tuples(_LETTER_WORDS, st.sampled_from(["-", "_", ".", "/", "'", "&", ":", "+"]), _LETTER_WORDS).map("".join)
WORDS = st.one_of(_LETTER_WORDS, st.tuples(_LETTER_WORDS, _CASES).map(lambda pair: pair[1](pair[0])), _SIGNED)


@settings(max_examples=60)
@given(st.lists(st.lists(WORDS, min_size=1, max_size=12), min_size=1, max_size=6))
def test_every_word_of_every_section_finds_it(sections: list[list[str]]) -> None:
    files = {f"s{n}.txt": " ".join(section) for n, section in enumerate(sections)}
    with temporary(files) as base:
        asked = [(n, word) for n, section in enumerate(sections) for word in {*section, *words.find(files[f"s{n}.txt"])}]
        asked = [(n, word) for n, word in asked if words.find(word)]
        answers = base.kb.search_many([word for _, word in asked], limit=50) if asked else ()
        for (n, word), answer in zip(asked, answers, strict=True):
            assert f"s{n}" in [r.id for r in answer.results], word
            assert answer.corrected is None, word


@settings(max_examples=40)
@given(st.lists(WORDS, min_size=1, max_size=12), st.data())
def test_words_that_stand_together_are_a_phrase(section: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(section) - 1))
    phrase = " ".join(section[start : start + data.draw(st.integers(1, 4))])
    if not words.find(phrase):
        return
    with temporary({"a.txt": " ".join(section), "b.txt": "zzz"}) as base:
        assert "a" in base.ids(f'"{phrase}"'), phrase


def test_every_word_of_mixed_scripts_finds_its_section(make_base: MakeBase) -> None:
    base = make_base(texts("Пароль", "München", "café", "Сергей", "배포", "naïve Σίσυφος", "İstanbul ılık", "ไทยแลนด์ हिन्दी"))
    for n, text in enumerate(["Пароль", "München", "café", "Сергей", "배포", "Σίσυφος", "İstanbul", "हिन्दी"]):
        for form in ("NFC", "NFD"):
            assert f"n{n}" in base.ids(unicodedata.normalize(form, text)), text


# -- why ---------------------------------------------------------------------------------------------------------


def test_an_explanation_adds_up_to_the_score(make_base: MakeBase) -> None:
    chance = random.Random(5)
    vocabulary = "boundary context system trust calculus holon evidence role".split()
    files = {}
    for n in range(20):
        parts = "".join(
            f"\n## {chance.choice(vocabulary)} {n}.{m}\n\n{' '.join(chance.choices(vocabulary, k=300))}\n" for m in range(3)
        )
        files[f"{n}.md"] = (
            f"---\naliases: [{chance.choice(vocabulary)} alias]\n---\n# A.{n} {chance.choice(vocabulary)}\n\nintro\n{parts}"
        )
    base = make_base(files)
    for query in ("boundary context", "trust A.3", "role holon evidence", '"context system"', "A.7"):
        answer = base.search(query, limit=20, explain=True)
        assert answer.results
        for result in answer.results:
            parts = result.explanation
            assert parts is not None
            assert sum(part["score"] for part in parts.values()) == pytest.approx(result.score, abs=2e-4), result.id
            for part in parts.values():
                if "terms" in part:
                    assert sum(part["terms"].values()) == pytest.approx(part["score"], abs=1e-5)
    assert base.search("boundary").results[0].explanation is None


def test_an_explanation_changes_neither_order_nor_score(make_base: MakeBase) -> None:
    base = make_base(texts("context one", "context context two", "one two context three"))
    plain, explained = base.search("context one"), base.search("context one", explain=True)
    assert [(r.id, r.score) for r in plain.results] == [(r.id, r.score) for r in explained.results]
