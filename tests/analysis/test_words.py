"""Where words begin and end, and how they are spelt for comparison."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.analysis import words

TEXT = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=60)


@pytest.mark.parametrize(
    "word",
    [
        "DEC-0054", "apply_secrets", "__init__", "1.0.21", "2026.4.10", "A.6.3.CR", "src/db.ts", "U.BoundedContext",
        "@scope/pkg", "R", "C++", "C#", "я", "__proto__", "constructor", "AT&T", "пароль-сервис", "Größe",
    ],
)  # fmt: skip
def test_an_identifier_is_one_word(word: str) -> None:
    assert words.find(f"see {word}, or not") == ["see", word, "or", "not"]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("DEC-0054", ["dec", "0054", "dec-0054"]),
        ("apply_secrets", ["apply", "secrets", "apply_secrets"]),
        ("__init__", ["init", "__init__"]),
        ("U.BoundedContext", ["u", "boundedcontext", "bounded", "context", "u.boundedcontext"]),
        ("src/db.ts", ["src", "db", "ts", "src/db.ts"]),
        ("@scope/pkg", ["scope", "pkg", "@scope/pkg"]),
        ("C++", ["c", "c++"]),
        ("C#", ["c", "c#"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("ОткрытыйКонтекст", ["открытыйконтекст", "открытый", "контекст"]),
        ("plain", ["plain"]),
    ],
)
def test_an_identifier_is_found_whole_and_by_part(word: str, parts: list[str]) -> None:
    assert words.spellings(word) == parts


@pytest.mark.parametrize("spelling", ["Пётр", "Петр", "ПЁТР", "Пе\u0308тр", "ПЕТР", "Пе\u0301тр", "Пе\u00adтр"])
def test_every_spelling_of_a_russian_name_is_compared_as_one(spelling: str) -> None:
    assert words.normalise(spelling) == "петр"


@pytest.mark.parametrize("spelling", ["й", "и\u0306", "Й", "И\u0306"])
def test_short_i_never_becomes_i(spelling: str) -> None:
    assert words.normalise(spelling) == "й"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("groß", "gross"),
        ("КОНТЕКСТ", "контекст"),
        ("cafe\u0301", "CAFÉ"),
        ("don’t", "don't"),
        ("İstanbul", "istanbul"),
        ("ﬁle", "file"),
        ("ﬂoﬃce", "floffice"),
        ("Ｔｒｕｓｔ", "trust"),
        ("２０２６", "2026"),
        ("ｶﾞｷﾞ", "ガギ"),
        ("Ⅷ", "viii"),
        ("mc²", "mc2"),
        ("Wort\u00adteil", "wortteil"),
        ("ﬁ‑ﬁ", "fi-fi"),
    ],
)
def test_spellings_that_differ_in_case_or_form_only_are_one(one: str, other: str) -> None:
    assert words.normalise(one) == words.normalise(other)


@pytest.mark.parametrize("word", ["½", "①", "ﷺ", "⑴", "ŀ"])
def test_a_sign_that_stands_for_no_single_word_is_compared_as_some_word(word: str) -> None:
    for spelling in words.spellings(word):
        assert words.find(spelling) == [spelling]


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("Ｕ.ＢｏｕｎｄｅｄＣｏｎｔｅｘｔ", "U.BoundedContext"),
        ("ＤＥＣ－００５４", "DEC-0054"),
        ("ﬁleName", "fileName"),
        ("src/ﬁle", "src/file"),
    ],
)
def test_a_word_in_compatible_signs_has_the_spellings_of_the_plain_one(word: str, other: str) -> None:
    found = [spelling for one in words.find(word) for spelling in words.spellings(one)]
    assert set(words.spellings(other)[:-1]) <= set(found)


def test_a_word_is_found_without_the_number_of_a_note_at_its_end() -> None:
    assert words.spellings("доверие¹") == ["доверие", "доверие1"]
    assert words.spellings("Haus²³") == ["haus", "haus23"]
    assert words.spellings("²") == ["2"]


def test_an_umlaut_is_not_its_base_letter() -> None:
    assert words.normalise("schön") != words.normalise("schon")


@pytest.mark.parametrize(
    "word",
    ["Альфа", "хмель", "объём", "ёлка", "Їжак", "düster", "naïve", "Ελλάδα", "हिन्दी", "עִבְרִית", "שָׁלוֹם", "ไทย", "မြန်မာ", "ខ្មែរ"],
)
def test_a_word_of_any_script_is_whole(word: str) -> None:
    assert words.find(f"«{word}», ({word})!") == [word, word]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_word_is_whole_in_either_unicode_form(form: str) -> None:
    text = unicodedata.normalize(form, "Объём ёлки, Größe, café")
    assert [words.normalise(word) for word in words.find(text)] == ["объем", "елки", "grösse", "café"]


def test_chinese_japanese_and_korean_runs_are_pairs_of_characters() -> None:
    assert words.spellings("合約轉換") == ["合約", "約轉", "轉換"]
    assert words.spellings("배포") == ["배포"]
    assert words.spellings("合") == ["合"]


def test_an_english_possessive_is_its_owner() -> None:
    assert words.spellings("Kant's") == ["kant"]
    assert words.spellings("Kant’s") == ["kant"]


def test_a_very_long_word_is_cut_alike_everywhere() -> None:
    assert words.normalise("a" * 1000) == "a" * words.LONGEST
    assert words.normalise("ё" * 1000) == "е" * words.LONGEST


@given(TEXT)
def test_every_letter_and_digit_is_part_of_a_word(text: str) -> None:
    found = "".join(words.find(text))
    assert [c for c in text if c.isalnum()] == [c for c in found if c.isalnum()]


@given(TEXT)
def test_every_word_has_a_spelling_to_be_found_by(text: str) -> None:
    for word in words.find(text):
        if any(char.isalnum() for char in word):
            assert words.spellings(word)
            assert all(words.spellings(word))


@given(TEXT)
def test_comparing_twice_changes_nothing(text: str) -> None:
    for word in words.find(text):
        once = words.normalise(word)
        assert words.normalise(once) == once


@given(TEXT)
def test_a_text_in_compatible_signs_is_compared_as_it_is(text: str) -> None:
    for word in words.find(unicodedata.normalize("NFKC", text)):
        assert words.normalise(unicodedata.normalize("NFKC", word)) == words.normalise(word)


@given(TEXT)
def test_both_unicode_forms_of_a_text_have_the_same_spellings(text: str) -> None:
    composed, decomposed = (
        [spelling for word in words.find(unicodedata.normalize(form, text)) for spelling in words.spellings(word)]
        for form in ("NFC", "NFD")
    )
    assert composed == decomposed
