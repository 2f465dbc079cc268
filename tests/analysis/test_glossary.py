"""A glossary file, and which of its terms the words of a question name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kb.analysis import glossary, words
from kb.analysis.analyzer import Analyzer
from kb.errors import ConfigError

ANALYZER = Analyzer()


def made(folder: Path, text: str) -> glossary.Glossary:
    path = folder / "glossary.toml"
    path.write_text(text, encoding="utf-8")
    return glossary.read(path, lambda: ANALYZER, folder / "cache")


def named(held: glossary.Glossary, question: str) -> list[tuple[str, list[str]]]:
    asked = words.find(question)
    found = held.matches(asked, ANALYZER.term)
    return [(" ".join(asked[m.start : m.end]), [form.text for form in m.others]) for m in found]


CONTEXT = """
[[terms]]
en = "bounded context"
ru = ["ограниченный контекст", "граница контекста"]
de = "abgegrenzter Kontext"

[[terms]]
en = "context"
ru = "контекст"
de = "Kontext"

[[terms]]
en = "trust"
ru = "доверие"
de = ["Vertrauen", "Zuversicht"]
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("trust", [("trust", ["доверие", "Vertrauen", "Zuversicht"])]),
        ("уровень доверия", [("доверия", ["trust", "Vertrauen", "Zuversicht"])]),
        ("VERTRAUENS", [("VERTRAUENS", ["trust", "доверие", "Zuversicht"])]),
        (
            "what bounded contexts are",
            [("bounded contexts", ["ограниченный контекст", "граница контекста", "abgegrenzter Kontext"])],
        ),
        (
            "на границах контекста",
            [("границах контекста", ["bounded context", "ограниченный контекст", "abgegrenzter Kontext"])],
        ),
        ("die Grenzen des Kontexts", [("Kontexts", ["context", "контекст"])]),
        ("trust in contexts", [("trust", ["доверие", "Vertrauen", "Zuversicht"]), ("contexts", ["контекст", "Kontext"])]),
        ("bounded", []),
        ("распределение", []),
        ("", []),
    ],
)
def test_any_inflected_form_of_a_term_names_it_and_the_longest_wins(
    tmp_path: Path, question: str, expected: list[tuple[str, list[str]]]
) -> None:
    assert named(made(tmp_path, CONTEXT), question) == expected


def test_words_joined_by_signs_are_the_same_words(tmp_path: Path) -> None:
    held = made(tmp_path, '[[terms]]\nen = "design-time"\nde = "Entwurfszeit"\n')
    assert named(held, "design time") == [("design time", ["Entwurfszeit"])]
    assert named(held, "at Design-Time") == [("Design-Time", ["Entwurfszeit"])]


def test_a_form_of_two_terms_leads_to_both(tmp_path: Path) -> None:
    held = made(tmp_path, '[[terms]]\nen = "bank"\nde = "Bank"\n[[terms]]\nen = "bench"\nde = "Bank"\nru = "скамья"\n')
    assert named(held, "Bank") == [("Bank", ["bench", "скамья"])]


def test_function_words_of_a_form_are_matched_but_not_searched(tmp_path: Path) -> None:
    held = made(tmp_path, '[[terms]]\nen = "description of the method"\nde = "Methodenbeschreibung"\n')
    (match,) = held.matches(["Methodenbeschreibungen"], ANALYZER.term)
    assert [form.spellings for form in match.others] == [("description", "method")]
    assert named(held, "the description of a method") == []


def test_words_that_come_again_are_named_once(tmp_path: Path) -> None:
    held = made(tmp_path, CONTEXT)
    assert named(held, "trust bounded context trust bounded context trusts") == [
        ("trust", ["доверие", "Vertrauen", "Zuversicht"]),
        ("bounded context", ["ограниченный контекст", "граница контекста", "abgegrenzter Kontext"]),
        ("trusts", ["доверие", "Vertrauen", "Zuversicht"]),
    ]


def test_a_question_brings_in_so_many_forms_at_most(tmp_path: Path) -> None:
    several = glossary.MOST_LOOKED_AT
    shared = "".join(f"[[terms]]\nde = 'Miete'\nen = 'rent {n}'\n" for n in range(2 * several))
    ((words_, others),) = named(made(tmp_path, f"{shared}{CONTEXT}"), "Miete trust")
    assert (words_, others) == ("Miete", [f"rent {n}" for n in range(several // 2)])
    numbered = "".join(f"[[terms]]\nde = 'Ding {n}'\nen = 'thing {n}'\n" for n in range(2 * several))
    found = named(made(tmp_path, numbered), " ".join(f"Ding {n}" for n in range(2 * several)))
    assert found == [(f"Ding {n}", [f"thing {n}"]) for n in range(several // 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[terms]]\nenglish = 'a'\nde = 'b'", r"\[\[terms\]\] number 1: unknown key 'english'; the keys are language codes"),
        ("[terms]\nen = 'a'", "terms must be tables; write each as"),
        ("terms = ['a']", "terms must be tables; write each as"),
        ("[[term]]\nen = 'a'", r"unknown key term; a glossary is a list of \[\[terms\]\]"),
        ("[[terms]]\nen = 'a'\nde = 'b'\n[[terms]]\nen = 'lonely'", "number 2: it needs at least two forms"),
        ("[[terms]]\nen = 3\nde = 'b'", "en must be a text or a list of texts, got 3"),
        ("[[terms]]\nen = []\nde = 'b'", "en must be a text or a list of texts"),
        ("[[terms]]\nen = ['a', 1]\nde = 'b'", "en must be a text or a list of texts"),
        ("[[terms]]\nen = '...'\nde = 'b'", "'...' has 0 words; write a form of 1 to 8"),
        ("[[terms]]\nen = 'a b c d e f g h i'\nde = 'b'", "has 9 words"),
        (f"[[terms]]\nen = {[f'form {n}' for n in range(glossary.MOST_OF_TERM)]}\nde = 'b'", "it has 101 forms; 100 at most"),
        ("[[terms]]\n" + "".join(f"a{chr(97 + n % 26)}{chr(97 + n // 26)} = 'x'\n" for n in range(51)), "51 languages; 50"),
        ("[[terms]\n", "is not valid TOML"),
    ],
)
def test_a_wrong_file_is_an_error_of_one_line_that_names_it(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        made(tmp_path, text)
    assert str(raised.value).startswith(str(tmp_path / "glossary.toml"))
    assert "\n" not in str(raised.value).replace("\n\n", "")


def test_what_was_worked_out_is_kept_until_the_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kb.toml._DOUBT_NS", -1)  # as where the file was written long ago
    (tmp_path / "cache").mkdir()
    path = tmp_path / "glossary.toml"
    path.write_text(CONTEXT, encoding="utf-8")
    first = glossary.read(path, lambda: ANALYZER, tmp_path / "cache")
    assert [file.name for file in (tmp_path / "cache").iterdir() if re.match(r"glossary-\d", file.name)]

    def none() -> Analyzer:
        raise AssertionError("nothing needs to be worked out")

    again = glossary.read(path, none, tmp_path / "cache")
    assert named(again, "уровень доверия") == named(first, "уровень доверия")
    (kept,) = [file for file in (tmp_path / "cache").iterdir() if file.name.startswith("glossary-")]
    kept.write_text(kept.read_text(encoding="utf-8").replace("Zuversicht", "Zu"), encoding="utf-8")  # damaged
    assert named(glossary.read(path, lambda: ANALYZER, tmp_path / "cache"), "trust") == named(first, "trust")
    path.write_text('[[terms]]\nen = "new"\nde = "neu"\n', encoding="utf-8")
    assert len(glossary.read(path, lambda: ANALYZER, tmp_path / "cache")) == 1
