from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bases import Base

from kb.base import KnowledgeBase
from kb.ranking import weights
from kb.ranking.spelling import likelihood

MakeBase = Callable[..., Base]
Ask = Callable[[str], tuple[str | None, list[str]]]

NOTES = {
    "graph": "# Evidence Graph\n\nThe evidence graph links each claim to its evidence.\n",
    "giraffe": "# Giraffes\n\nA giraffe eats leaves. Giraffes in a grape garden, and a crape.\n",
    "duality": "# Temporal Duality\n\nDesign time and run time are a temporal duality.\n",
    "quality": "# Quality\n\nQuality of service, quality of data, quality of life.\n",
    "quality2": "# More quality\n\nMore on quality and the quality of quality.\n",
    "commitment": "# U.Commitment\n\nA promise that is made by somebody.\n",
    "parity": "# ParityPlan\n\nHow two runs are compared.\n",
    "kernel": "# Открытое ядро\n\nОткрытое ядро растёт без правок.\n",
    "hidden": "# Скрытые поля\n\nСкрытое поле. Скрытое место. Скрытое имя.\n",
}


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    for name, text in NOTES.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    with KnowledgeBase(tmp_path) as base:

        def answer(query: str) -> tuple[str | None, list[str]]:
            found = base.search(query)
            return found.corrected, [result.source.removesuffix(".md") for result in found.results]

        yield answer


def test_each_piece_of_a_word_is_corrected_by_itself(ask: Ask) -> None:
    assert ask("Evidence-Grpah") == ("Evidence-Graph", ["graph"])
    assert ask("U.Commitmet") == ("U.Commitment", ["commitment"])


def test_a_word_with_inner_capitals_is_corrected_as_a_whole(ask: Ask) -> None:
    assert ask("ParitbPlan") == ("ParityPlan", ["parity"])
    assert ask("ParitylPan")[0] == "parityplan"  # nothing says which of the two letters was the capital


def test_a_capital_that_slipped_into_a_word_is_no_second_word(ask: Ask) -> None:
    assert ask("tEmporal Daulity")[1][0] == "duality"
    assert ask("xTemporal duality") == ("Temporal duality", ["duality"])


def test_of_equally_near_words_the_one_that_goes_with_the_rest_is_chosen(ask: Ask) -> None:
    assert ask("uality")[0] == "quality"  # the more frequent, where nothing tells more
    assert ask("temporal uality") == ("temporal duality", ["duality"])
    assert ask("Окрытое ядро") == ("Открытое ядро", ["kernel"])


def test_a_short_word_is_corrected_only_in_the_company_of_another(ask: Ask) -> None:
    assert ask("evidence raph") == ("evidence graph", ["graph"])
    assert ask("raph") == (None, [])
    assert ask("leaves raph")[0] is None  # giraffes and graphs stand in different notes


def test_words_with_digits_are_names_and_stay(ask: Ask) -> None:
    assert ask("grpah2") == (None, [])


def test_a_form_of_a_title_that_was_never_seen_still_names_the_section(ask: Ask) -> None:
    assert ask("открытого ядра")[1][0] == "kernel"


def test_a_form_that_stands_nowhere_is_corrected_where_another_word_goes_far_better_with_the_rest(tmp_path: Path) -> None:
    texts = {"post": "Postal address of a customer.", "nobility": "Die Adresse im Grundbuch, Adressen.", "c": "Der Kunde."}
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    with KnowledgeBase(tmp_path) as base:
        assert base.search("postal adress").corrected == "postal address"
        assert base.search("adress Grundbuch").corrected is None
        assert base.search("adress").corrected is None


def test_a_word_with_a_negation_before_it_is_no_slip_of_the_word(ask: Ask) -> None:
    assert ask("uncommitment")[0] is None
    assert ask("intemporal")[0] is None


def test_another_first_letter_needs_the_company_of_the_rest(ask: Ask) -> None:
    assert ask("fuality")[0] is None
    assert ask("temporal fuality")[0] == "temporal duality"


def test_phrases_are_corrected_too(ask: Ask) -> None:
    assert ask('"temporal daulity"') == ('"temporal duality"', ["duality"])


def test_a_slip_in_a_form_that_no_text_has_is_found_through_the_dictionary(make_base: MakeBase) -> None:
    base = make_base({"ice.md": "# Ледник\n\nЛедник растягивает грунт.\n", "c.md": "# Канал\n\nКанал ведёт к морю.\n"})
    answer = base.search("лъдниками")
    assert (answer.corrected, [result.id for result in answer.results]) == ("ледниками", ["ice"])


def test_a_word_of_the_dictionary_is_no_slip_unless_the_rest_speaks_for_another(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# Страны\n\nСтраны и границы договора.\n", "b.md": "# Прочее\n\nО другом.\n"})
    assert base.search("струны").corrected is None
    assert base.search("струны договора").corrected == "страны договора"


def test_a_piece_is_corrected_where_a_glossary_names_another_piece_of_the_word(make_base: MakeBase) -> None:
    base = make_base(
        {
            "a.md": "# Engineering views\n\nEngineering viewpoints of a plant.\n",
            "g.toml": '[[terms]]\nen = "viewpoints"\nde = "Sichtweise"\n',
        },
        '[[collections]]\nname = "n"\nroot = "docs"\nglossary = "docs/g.toml"\n',
    )
    assert base.search("Engineeding-Viewpoints").corrected == "Engineering-Viewpoints"


def test_a_correction_keeps_the_capitals_of_the_word_that_it_stands_for(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# U.BoundedContext\n\nThe BOUNDARY of a boundedcontext.\n"})
    assert base.search("U.BoundedContxt").corrected == "U.BoundedContext"
    assert base.search("BOUNDRAY").corrected == "BOUNDARY"
    assert base.search("boundray").corrected == "boundary"


ENGLISH = {
    "first.md": "# The first order\n\nThe first of all orders that a customer has placed.\n",
    "list.md": "# Qdrant\n\nThe list of all servers, and a Qdrant server is one of them.\n",
}


def test_a_word_of_another_language_read_as_one_of_the_base_makes_a_weak_answer(make_base: MakeBase) -> None:
    base = make_base(ENGLISH)
    answer = base.search("welche Frist gilt für die Bestellung")
    assert answer.corrected == "welche First gilt für die Bestellung"
    assert all(result.low_confidence for result in answer.results)
    plain = base.search("the frist order")
    assert (plain.corrected, plain.results[0].low_confidence) == ("the first order", False)


def test_a_misspelt_name_is_found_from_a_question_in_another_language(make_base: MakeBase) -> None:
    assert make_base(ENGLISH).search("wie richte ich Qdarnt ein").results[0].title == "Qdrant"


def test_another_first_letter_in_another_language_is_no_slip(make_base: MakeBase) -> None:
    base = make_base(ENGLISH)
    assert base.search("a dustomer and the orders").corrected == "a customer and the orders"
    assert base.search("wie ist der Dustomer auf orders").corrected is None


def test_of_equally_near_words_the_one_in_the_language_of_the_question_is_chosen(make_base: MakeBase) -> None:
    texts = {f"en{n}.md": f"# Needs {n}\n\nWhat is there and what the needs of the gate are.\n" for n in range(3)}
    base = make_base({**texts, "de.md": "# Noten\n\nDie Noedes und das Tor, und was es ist.\n"})
    assert base.search("what does it nedes").corrected == "what does it needs"
    assert base.search("was ist das nedes").corrected == "was ist das noedes"


def test_a_word_of_another_script_than_the_question_is_corrected_as_ever(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# Акт\n\nЭто акт, и что он значит.\n", "b.md": "# Speech\n\nA speech and what it is.\n"})
    assert base.search("что такое spech").corrected == "что такое speech"


MISSED = {
    "a.md": "# Signature stack\n\nHow layers lie on each other.\n",
    "b.md": "# Trees\n\nA stick has the signature of its tree. A bias.\n",
    "c.md": "# Where to start\n\nThe first page.\n",
    "d.md": "# TARGET2 replacement\n\nWhat comes after it.\n",
    "e.md": "# Bias-Audit\n\nLooking for prejudice.\n",
}


def test_a_slip_that_is_itself_a_word_is_read_as_the_name_that_it_misses(make_base: MakeBase) -> None:
    answer = make_base(MISSED).search("signature stick")
    assert (answer.corrected, answer.results[0].id) == ("signature stack", "a")


def test_a_query_that_is_a_name_as_it_stands_is_not_read_as_another_name(make_base: MakeBase) -> None:
    answer = make_base(MISSED | {"f.md": "# Signature stick\n\nAnother.\n"}).search("signature stick")
    assert (answer.corrected, answer.results[0].id) == (None, "f")


def test_a_term_of_a_glossary_is_not_read_as_a_name_that_is_like_it(make_base: MakeBase) -> None:
    files = MISSED | {"g.toml": '[[terms]]\nen = "signature stick"\nde = "Baum"\n', "h.md": "# Baum\n\nEin Baum.\n"}
    base = make_base(files, '[[collections]]\nname = "n"\nroot = "docs"\nglossary = "docs/g.toml"\n')
    assert base.search("signature stick").corrected is None


def test_words_that_a_large_base_knows_stay_as_they_are(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    base = make_base(MISSED)
    monkeypatch.setattr(weights, "NEAR_VOCABULARY", 0)
    assert base.search("signature stick").corrected is None
    assert base.search("signature stavk").corrected == "signature stack"


def test_a_name_that_was_removed_corrects_nothing(make_base: MakeBase) -> None:
    base = make_base(MISSED)
    assert base.search("signature stick").corrected == "signature stack"
    (base.root / "a.md").unlink()
    base.kb.index()
    assert base.search("signature stick").corrected is None


def test_a_name_speaks_for_another_first_letter_where_no_other_word_does(make_base: MakeBase) -> None:
    assert make_base(MISSED).search("where to ztart").corrected == "where to start"


def test_a_word_with_digits_is_corrected_to_that_of_a_name_with_the_same_digits(make_base: MakeBase) -> None:
    base = make_base(MISSED)
    assert base.search("TAREGT2 replacement").corrected == "TARGET2 replacement"
    assert base.search("TARGET3 replacement").corrected is None


def test_the_pieces_of_a_word_speak_for_each_other_where_they_are_a_name(make_base: MakeBase) -> None:
    assert make_base(MISSED).search("Bias-udit").corrected == "Bias-audit"


def test_phrases_and_excluded_words_are_not_read_as_names(make_base: MakeBase) -> None:
    base = make_base(MISSED)
    assert base.search('"signature" stick').corrected is None
    assert base.search("signature stick -leaf").corrected is None


def test_a_misspelt_function_word_brings_in_no_section(make_base: MakeBase) -> None:
    base = make_base(
        {"a.md": "# Borders\n\nThe border of a field.\n", "b.md": "# Choice\n\nWhich one, which two, which three?\n"}
    )
    answer = base.search("whcih border")
    assert (answer.corrected, [result.id for result in answer.results]) == ("which border", ["a"])


def test_a_lost_or_swapped_letter_is_likelier_than_another_and_that_than_one_put_in() -> None:
    lost, swapped, another, doubled, stray = (
        likelihood(spelt, "start", 1, 1) for spelt in ("strt", "satrt", "stort", "staart", "stakrt")
    )
    assert lost == swapped > another == doubled > stray
    assert likelihood("stakrt", "start", 1, 9) > stray  # the more documents hold a word, the likelier it is meant


def test_of_equally_near_words_that_keep_the_same_company_the_likelier_slip_is_chosen(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# Start\n\nEngine: start it, or be a stray.\n"})
    assert base.search("engine strat").corrected == "engine start"
