"""A word is as rare as it is among the texts of its own language."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pytest
from bases import Base

from kb.base import KnowledgeBase
from kb.ranking import rarity

MakeBase = Callable[..., Base]
ENGLISH = "the boundary of a holon is where it meets what lies around it and every part of this has a whole".split()
GERMAN = "die Grenze liegt dort wo das Ganze auf seine Umgebung trifft und jeder Teil gehört zu einem Haus".split()
TOML = '[[collections]]\nname = "docs"\nroot = "docs"\nglossary = "words.toml"\n'


def english(count: int) -> dict[str, str]:
    chance = random.Random(5)
    return {f"en{n}.md": f"---\nlang: en\n---\n# Note {n}\n\n{' '.join(chance.choices(ENGLISH, k=40))}\n" for n in range(count)}


def german(count: int) -> dict[str, str]:
    chance = random.Random(7)
    return {f"de{n}.md": f"---\nlang: de\n---\n# Blatt {n}\n\n{' '.join(chance.choices(GERMAN, k=40))}\n" for n in range(count)}


def shares(opened: KnowledgeBase, *terms: str) -> Mapping[str, float]:
    opened.index()
    catalog = opened._catalog()
    with catalog.reading():
        snapshot = opened._state(catalog)
        return rarity.shares(snapshot, [term for word in terms for term in snapshot.stored_terms(word) or ()])


def test_a_word_of_every_text_in_a_small_language_counts_for_less_than_one_of_few_texts_in_a_large_one(
    make_base: MakeBase,
) -> None:
    base = make_base({**english(60), **german(6), "rare.md": "---\nlang: en\n---\n# Rare\n\nOne zyzzyva stands here alone.\n"})
    found = shares(base.kb, "grenze", "zyzzyva")
    assert found["grenz"] < 0.5
    assert found.get("zyzzyva", 1.0) > 0.9


def test_a_base_of_one_language_weighs_its_words_by_their_idf_alone(make_base: MakeBase) -> None:
    assert shares(make_base(english(20)).kb, "boundary", "holon") == {}


def test_a_question_of_a_small_language_finds_what_its_rare_word_means_in_the_large_one(make_base: MakeBase) -> None:
    around = {
        f"haus{n}.md": f"---\nlang: de\n---\n# Blatt {n}\n\nUnd die Umgebung hat ein Haus mit {n} Türen.\n" for n in (3, 5, 7)
    }
    files = {**english(100), **around, "trust.md": "---\nlang: en\n---\n# Claim\n\nHow far a claim may be trusted at all.\n"}
    base = make_base(files, TOML)
    (base.place / "words.toml").write_text('[[terms]]\nen = "trusted"\nde = "Vertrauen"\n', encoding="utf-8")
    assert base.ids("Vertrauen in der Umgebung")[0] == "trust"


def test_a_word_that_only_a_name_has_is_counted_in_no_text_after_a_removal_too(make_base: MakeBase) -> None:
    files = {**english(6), **german(3), "named.md": "---\nlang: en\naliases: [zyzzyva]\n---\n# Note\n\nText of it.\n"}
    base = make_base(files)
    base.kb.index()
    (base.root / "en2.md").unlink()
    assert base.ids("zyzzyva") == ["named"]
    assert shares(base.kb, "zyzzyva") == {}


@pytest.mark.parametrize("seed", [1, 2])
def test_shares_after_edits_are_those_of_an_index_made_anew(make_base: MakeBase, seed: int) -> None:
    chance = random.Random(seed)
    base = make_base({**english(12), **german(12)})
    base.kb.index()
    for number in range(30):
        name, text = chance.choice([*english(14).items(), *german(14).items()])
        if chance.random() < 0.3:
            (base.root / name).unlink(missing_ok=True)
        else:
            base.write(name, text.replace("# ", f"# {number} ").replace("lang: de", chance.choice(["lang: de", "lang: en"])))
        base.kb.index()
    words = [word.lower() for word in (*ENGLISH, *GERMAN)]
    kept, made = shares(base.kb, *words), shares(base.rebuilt(), *words)
    assert {term: share.hex() for term, share in kept.items()} == {term: share.hex() for term, share in made.items()}
    assert kept
