"""What else words of a question are called: the terms of a glossary that they name, as far as the base holds them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kb.analysis import words
from kb.index.snapshot import Snapshot
from kb.ranking import weights
from kb.ranking.alternatives import Form
from kb.records import record

if TYPE_CHECKING:
    from kb.analysis import glossary as glossaries
    from kb.analysis.analyzer import Analyzer


@record
class Named:
    """Words of a question that name a term, and the other forms of it that the base holds."""

    words: tuple[str, ...]
    forms: tuple[Form, ...]

    @property
    def terms(self) -> list[str]:
        """The terms of the other forms."""
        return [term for form in self.forms for word in form.words for term in word]

    @property
    def spellings(self) -> list[str]:
        """The spellings of the words."""
        return [spelling for word in self.words for spelling in words.spellings(word)]


def translate(
    glossary: glossaries.Glossary | None, asked: Sequence[str], snapshot: Snapshot, analyzer: Callable[[], Analyzer]
) -> list[Named]:
    """Return the terms that the words of a question name, from left to right, those that lead nowhere left out."""
    if glossary is None:
        return []

    def term_of(spelling: str, language: str) -> str:
        return snapshot.term_of(spelling, language) or analyzer().term(spelling, language)

    out = []
    for match in glossary.matches(asked, term_of):
        forms = [Form(form.text, held, weights.GLOSSARY_WEIGHT) for form in match.others if (held := _held(form, snapshot))]
        if forms:
            out.append(Named(tuple(asked[match.start : match.end]), tuple(forms)))
    return out


def _held(form: glossaries.Form, snapshot: Snapshot) -> tuple[tuple[str, ...], ...]:
    """Return for each word of a form the terms that the base holds; nothing where it lacks one of the words."""
    found = []
    for spelling, term in zip(form.spellings, form.terms, strict=True):
        # As the index stores the spelling, under all of its languages; as its own language has it where no text spells it so.
        terms = dict.fromkeys((*(snapshot.stored_terms(spelling) or ()), term))
        found.append(tuple(t for t in terms if snapshot.frequency("text", t) or snapshot.frequency("head", t)))
    return tuple(found) if all(found) else ()
