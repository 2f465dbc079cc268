from __future__ import annotations

from pathlib import Path

import pytest
from script_files import script

soundness = script("soundness")


def test_the_shipped_base_is_sound() -> None:
    pytest.importorskip("spellchecker", reason="spelling needs pyspellchecker, which the extra test installs")
    assert list(soundness.faults()) == []


def test_a_run_of_six_words_that_another_text_has_is_a_fault(tmp_path: Path) -> None:
    page = next(page for page in soundness._pages() if page.document.source == "A.10.md")
    sentence = " ".join(page.document.sections[0].blocks[0].text.split()[:12])
    (tmp_path / "other.md").write_text(f"# Other\n\nHere it says: {sentence}\n", encoding="utf-8")
    found = list(soundness._copied([page], tmp_path))
    assert len(found) == 1
    assert found[0].startswith("knowledge/fpf/A.10.md:")


def test_the_headings_of_another_text_may_be_repeated(tmp_path: Path) -> None:
    page = next(page for page in soundness._pages() if page.document.source == "A.10.md")
    sentence = " ".join(page.document.sections[0].blocks[0].text.split()[:12])
    (tmp_path / "other.md").write_text(f"# {sentence}\n", encoding="utf-8")
    assert list(soundness._copied([page], tmp_path)) == []


@pytest.mark.parametrize(
    ("word", "language", "right"),
    [
        ("knowledge", "en", True),
        ("knowlege", "en", False),
        ("behaviour", "en", True),
        ("Ähnlichkeitssuche", "de", True),
        ("Ähnlichkeitsuhe", "de", False),
        ("идентификаторы", "ru", True),
        ("индентификаторы", "ru", False),
    ],
)
def test_spelling_knows_right_words_from_wrong_ones(word: str, language: str, right: bool) -> None:
    pytest.importorskip("spellchecker", reason="spelling needs pyspellchecker, which the extra test installs")
    assert soundness._spelt(word, language, frozenset()) is right
