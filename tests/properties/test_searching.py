"""What must hold of a search whatever its words are: samples of real vocabularies, and of the sections of the shipped base.

Most tests put each sampled word into a document of its own, in one base of many, and ask for it.
"""

from __future__ import annotations

import builtins
import keyword
import random
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from bases import Base, temporary
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.analysis import words
from kb.analysis.languages import FUNCTION_WORDS
from kb.base import KnowledgeBase
from kb.config import shipped

from .vocabularies import LANGUAGES, SEED, SOURCES, check, identifiers, vocabulary

FILLER = {
    "en": "This is what the text says about it and nothing else of the kind.",
    "ru": "Это то, что об этом говорит текст, и больше ничего такого нет.",
    "de": "Das ist es, was der Text darüber sagt, und sonst nichts von der Art.",
}
every_vocabulary = pytest.mark.parametrize(("source", "language"), [(s, x) for s in SOURCES for x in LANGUAGES])
every_language = pytest.mark.parametrize("language", LANGUAGES)


@contextmanager
def documents(texts: Mapping[str, str], language: str = "en") -> Iterator[Base]:
    """A base of one document a text, named by its key; all say the same beside it."""
    head = f"---\nlang: {language}\n---\n# N\n\n"
    with temporary({f"{name}.md": f"{head}{text} {FILLER[language]}\n" for name, text in texts.items()}) as base:
        yield base


def numbered(texts: list[str]) -> dict[str, str]:
    return {f"d{number}": text for number, text in enumerate(texts)}


def missing(base: Base, queries: Mapping[str, list[str]]) -> list[tuple[str, str]]:
    """(document, query) of every query that does not find its document."""
    asked = [(name, query) for name, held in queries.items() for query in held]
    answers = base.kb.search_many([query for _, query in asked], limit=50, snippets=False)
    return [pair for pair, answer in zip(asked, answers, strict=True) if pair[0] not in {r.id for r in answer.results}]


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """The shipped base, indexed once."""
    with KnowledgeBase(shipped(), cache=tmp_path_factory.mktemp("knowledge")) as base:
        base.index()
        yield base


def texts_of(base: KnowledgeBase) -> list[tuple[str, str]]:
    """(id, text) of every passage and name that is indexed, under the id of its hit."""
    db = base._catalog().db
    held = db.execute(
        "SELECT h.id, p.text FROM passages p JOIN sections s USING (section) JOIN sections h ON h.section = s.hit"
    ).fetchall()
    return held + db.execute("SELECT s.id, n.name FROM names n JOIN sections s USING (section)").fetchall()


# -- every word, whatever it is ------------------------------------------------------------------------------------


@every_vocabulary
def test_a_word_finds_the_document_that_holds_it(source: str, language: str) -> None:
    sample = vocabulary(source, language).sample(120)
    with documents(numbered(sample), language) as base:
        wrong = missing(base, {f"d{n}": [w, w.upper(), unicodedata.normalize("NFD", w)] for n, w in enumerate(sample)})
    check([sample[int(name[1:])] for name, _ in wrong], 3 * len(sample))


def test_every_word_of_a_section_finds_that_section(knowledge: KnowledgeBase) -> None:
    pairs = sorted({(id_, word) for id_, text in texts_of(knowledge) for word in words.find(text)})
    sample = random.Random(SEED).sample(pairs, 400)
    answers = knowledge.search_many([word for _, word in sample], limit=50, snippets=False)
    wrong = []
    for (id_, word), answer in zip(sample, answers, strict=True):
        found, offset = {r.id for r in answer.results}, 50
        while id_ not in found and offset < answer.total:
            found |= {r.id for r in knowledge.search_many([word], limit=50, offset=offset, snippets=False)[0].results}
            offset += 50
        if id_ not in found:
            wrong.append((id_, word))
    check(wrong, len(sample))


def test_words_of_a_section_in_any_order_find_that_section(knowledge: KnowledgeBase) -> None:
    random_ = random.Random(SEED)
    sample = random_.sample([(id_, words.find(text)) for id_, text in texts_of(knowledge) if len(words.find(text)) > 60], 120)
    asked = [(id_, " ".join(random_.sample(held, 8))) for id_, held in sample]
    answers = knowledge.search_many([query for _, query in asked], limit=50, snippets=False)
    check([p for p, a in zip(asked, answers, strict=True) if p[0] not in {r.id for r in a.results}], len(asked), 0.97)


def test_highlights_cover_whole_words_that_were_asked_for(knowledge: KnowledgeBase) -> None:
    held = sorted({word for _, text in texts_of(knowledge) for word in words.find(text) if word.isalpha() and len(word) > 2})
    sample = random.Random(SEED).sample(held, 150)
    wrong: list[tuple[str, str]] = []
    tried = 0
    for word in sample:
        for result in knowledge.search(word, limit=3).results:
            for start, end in result.highlights:
                tried += 1
                inside = result.snippet[start:end]
                around = result.snippet[max(start - 1, 0) : start] + inside + result.snippet[end : end + 1]
                cut = [a + b for a, b in zip(around, around[1:], strict=False) if a.isalnum() and b.isalnum()]
                whole = len(cut) == sum(a.isalnum() and b.isalnum() for a, b in zip(inside, inside[1:], strict=False))
                hump = re.search(r"[a-zа-я0-9][A-ZА-Я]", around) or re.search(r"[A-ZА-Я]{2}[a-zа-я]", around)
                if not inside.strip() or not (whole or hump):
                    wrong.append((word, around))
    check(wrong, tried)


# -- identifiers ---------------------------------------------------------------------------------------------------


@every_vocabulary
def test_an_identifier_is_found_bare_quoted_and_by_its_parts(source: str, language: str) -> None:
    held = [word for word in identifiers(vocabulary(source, language).texts) if len(word) < 60]
    sample = random.Random(SEED).sample(held, min(80, len(held)))
    with documents(numbered(sample), language) as base:
        queries = {f"d{n}": [w, f'"{w}"', " ".join(words.pieces(w)), w.lower()] for n, w in enumerate(sample)}
        check(missing(base, queries), 4 * len(sample))
        first = base.kb.search_many(sample, limit=1, snippets=False)
    same = [w for n, (w, a) in enumerate(zip(sample, first, strict=True)) if not a.results or a.results[0].id != f"d{n}"]
    check(same, len(sample), 0.95)


DOTTED = st.builds(
    lambda letter, numbers, word: ".".join([letter, *map(str, numbers), *([word] if word else [])]),
    st.sampled_from("ABCDEFGHK"),
    st.lists(st.integers(1, 30), min_size=1, max_size=4),
    st.sampled_from(["", "CR", "LHR", "a", "Core"]),
)


@given(st.lists(DOTTED, min_size=2, max_size=12, unique_by=str.lower))
@settings(max_examples=15)
def test_a_dotted_id_puts_its_section_first_and_is_not_outranked_by_a_longer_one(ids: list[str]) -> None:
    with temporary({f"s{n}.md": f"# {id_} - Name\n\nSee {' '.join(ids)}.\n" for n, id_ in enumerate(ids)}) as base:
        for query in (*ids, *map(str.lower, ids), *(f'"{id_}"' for id_ in ids), *(f"what is {id_}" for id_ in ids)):
            wanted = next(id_ for id_ in ids if id_.lower() == query.strip('"').removeprefix("what is ").lower())
            assert base.search(query, limit=1).results[0].id == wanted, query


@given(st.lists(st.lists(st.integers(0, 40), min_size=2, max_size=4), min_size=2, max_size=12, unique_by=tuple))
@settings(max_examples=15)
def test_a_version_is_found_and_in_quotes_nothing_but_it(numbers: list[list[int]]) -> None:
    versions = [".".join(map(str, one)) for one in numbers]
    with documents(numbered([f"Released as {version} then." for version in versions])) as base:
        for n, version in enumerate(versions):
            assert f"d{n}" in base.ids(version)
            # In quotes the numbers must stand one after the other: 1.0 in 1.0.21 too.
            held = [other for other in versions if f".{version}." in f".{other}."]
            assert {versions[int(id_[1:])] for id_ in base.ids(f'"{version}"')} == set(held)


@every_vocabulary
def test_words_joined_by_signs_are_found(source: str, language: str) -> None:
    random_ = random.Random(SEED)
    sample = vocabulary(source, language).sample(240, shortest=3, longest=14)
    made = [
        shape.format(*random_.sample(sample, 2))
        for shape in ("@{0}/{1}", "{0}/{1}.ts", "{0}.{1}", "{0}_{1}", "{0}-{1}", "{0}:{1}", "{0}++", "{0}#", "__{0}__", "{0}&{1}")
        for _ in range(8)
    ]
    with documents(numbered(made), language) as base:
        check(missing(base, {f"d{n}": [word, f'"{word}"'] for n, word in enumerate(made)}), 2 * len(made))


def test_a_single_letter_of_any_alphabet_is_found() -> None:
    letters = [chr(code) for low, high in ((0x41, 0x5B), (0x410, 0x430)) for code in range(low, high)]
    made = [letter + sign for letter in letters for sign in ("", "++", "#")]
    with documents(numbered(made)) as base:
        check(missing(base, {f"d{n}": [word, word.lower()] for n, word in enumerate(made)}), 2 * len(made))
        for query in ("C", "C++", "C#", "я"):
            assert base.ids(query)[0] == f"d{made.index(query.upper())}"


def test_the_words_of_programs_are_ordinary_words() -> None:
    elsewhere = "constructor __proto__ null NaN undefined hasOwnProperty prototype true false void arguments".split()
    made = sorted({*keyword.kwlist, *dir(builtins), *dir(object)} - set(elsewhere))
    sample = [*elsewhere, *random.Random(SEED).sample(made, 110)]
    with documents(numbered([f"Here is {word} once." for word in sample])) as base:
        check(missing(base, {f"d{n}": [word] for n, word in enumerate(sample)}), len(sample))


# -- any string ------------------------------------------------------------------------------------------------------


def test_no_string_of_signs_and_words_is_an_error(knowledge: KnowledgeBase) -> None:
    random_ = random.Random(SEED)
    held = [word for language in LANGUAGES for word in vocabulary("shipped", language).sample(200)]
    signs = "\"'«»„“()[]{}<>*:^?=&|-+~\\/!.,;#@%$_ \t\n\u200b\u0301\ud800\x00"
    queries = []
    while len(queries) < 1200:
        length = random_.randint(1, 25)
        text = "".join(random_.choice(held if random_.random() < 0.3 else signs) for _ in range(length))
        if text.strip():
            queries.append(text)
    for typing in (False, True):
        for answer in knowledge.search_many(queries[typing::2], limit=3, snippets=not typing, typing=typing):
            assert answer.total >= len(answer.results)


@every_language
def test_made_up_words_find_nothing(knowledge: KnowledgeBase, language: str) -> None:
    random_ = random.Random(f"{SEED}:{language}")
    letters = {"ru": "йцщъфыэжзхюёчбпшг", "en": "qwxzjkvbphfgyd", "de": "qxyäöüßjkvpzwfg"}[language]
    made = [" ".join("".join(random_.choices(letters, k=random_.randint(5, 10))) for _ in range(2)) for _ in range(150)]
    found = knowledge.search_many(made, limit=5, snippets=False)
    check([query for query, answer in zip(made, found, strict=True) if answer.results], len(made))


@every_language
def test_shuffled_words_find_nothing(knowledge: KnowledgeBase, language: str) -> None:
    """Letters of real words in a random order look like words, and may lie an edit or two from one."""
    random_ = random.Random(f"{SEED}:{language}")
    sample = vocabulary("shipped", language).sample(300, shortest=7, longest=12)
    shuffled = ["".join(random_.sample(word.lower(), len(word))) for word in sample]
    made = [" ".join(pair) for pair in zip(shuffled[::2], shuffled[1::2], strict=False)]
    found = knowledge.search_many(made, limit=5, snippets=False)
    check([(q, a.corrected, a.results[0].id) for q, a in zip(made, found, strict=True) if a.results], len(made), 0.98)


@every_language
def test_a_question_of_function_words_finds_what_holds_them(knowledge: KnowledgeBase, language: str) -> None:
    random_ = random.Random(f"{SEED}:{language}")
    seen = {words.normalise(word) for word in vocabulary("shipped", language).words}
    held = sorted(word for word in FUNCTION_WORDS[language] if words.normalise(word) in seen)
    asked = [" ".join(random_.sample(held, random_.randint(1, 5))) for _ in range(60)]
    answers = knowledge.search_many(asked, limit=3, snippets=False)
    check([query for query, answer in zip(asked, answers, strict=True) if not answer.results], len(asked))
    titles = [" ".join(random_.sample(held, 4)) for _ in range(20)]
    head = f"---\nlang: {language}\n---\n"
    with temporary({f"d{n}.md": f"{head}# {title}\n\n{FILLER[language]}\n" for n, title in enumerate(titles)}) as base:
        wrong = [title for n, title in enumerate(titles) if base.search(title, limit=1).results[0].id != f"d{n}"]
    check(wrong, len(titles), 0.95)


# -- languages -------------------------------------------------------------------------------------------------------


def typo(word: str, random_: random.Random) -> str:
    """The word with one inner letter replaced by another of its alphabet."""
    at = random_.randrange(1, len(word) - 1)
    letters = "оаеинтсрвл" if "а" <= word[at] <= "я" else "etaonirsdl"
    return word[:at] + random_.choice([letter for letter in letters if letter != word[at]]) + word[at + 1 :]


@every_vocabulary
def test_a_typo_in_a_word_of_any_language_is_corrected(source: str, language: str) -> None:
    """Five to eight letters have one edit, whatever the script; the rest are too like another word of the sample."""
    random_ = random.Random(SEED)
    sample = [w for w in vocabulary(source, language).sample(150, shortest=5, longest=8) if w.islower() and w.isalpha()]
    sample = [w for w in sample if w not in FUNCTION_WORDS[language]]
    with documents(numbered(sample), language) as base:
        check(missing(base, {f"d{n}": [typo(w, random_)] for n, w in enumerate(sample)}), len(sample), 0.95)


@pytest.mark.parametrize("source", SOURCES)
def test_a_german_compound_is_found_by_its_parts(source: str) -> None:
    held = [w for w in vocabulary(source, "de").words if w.istitle() and len(w) >= 5]
    lower = {w.lower() for w in held}
    pairs = [(w, w[at:].lower()) for w in held for at in range(4, len(w) - 4) if w[at:] in lower and w[:at].lower() in lower]
    sample = random.Random(SEED).sample(pairs, min(60, len(pairs)))
    with documents(numbered([compound for compound, _ in sample]), "de") as base:
        wrong = missing(base, {f"d{n}": [part.title()] for n, (_, part) in enumerate(sample)})
    check([sample[int(name[1:])] for name, _ in wrong], len(sample), 0.98)


CJK = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=2, max_size=14)


@given(st.lists(CJK, min_size=1, max_size=8, unique=True), st.data())
@settings(max_examples=25)
def test_any_part_of_a_chinese_run_finds_it(runs: list[str], data: st.DataObject) -> None:
    with documents(numbered(runs)) as base:
        for n, run in enumerate(runs):
            start = data.draw(st.integers(0, len(run) - 2))
            part = run[start : data.draw(st.integers(start + 2, len(run)))]
            assert f"d{n}" in base.ids(part)


@pytest.mark.parametrize("source", SOURCES)
def test_a_question_in_three_languages_finds_a_document_in_each(source: str) -> None:
    samples = {
        language: [
            w
            for w in vocabulary(source, language).sample(100, shortest=6)
            if w.islower() and words.normalise(w) not in FUNCTION_WORDS[language]
        ][:40]
        for language in LANGUAGES
    }
    triples = list(zip(*samples.values(), strict=False))
    files = {
        f"{language}{n}.md": f"---\nlang: {language}\n---\n# N\n\n{word} {FILLER[language]}\n"
        for n, triple in enumerate(triples)
        for language, word in zip(samples, triple, strict=True)
    }
    with temporary(files) as base:
        answers = base.kb.search_many([" ".join(triple) for triple in triples], limit=50, snippets=False)
    wrong = [
        triples[n]
        for n, answer in enumerate(answers)
        if not {f"{language}{n}" for language in LANGUAGES} <= {result.id for result in answer.results}
    ]
    check(wrong, len(triples))
