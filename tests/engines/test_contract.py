"""One contract for every engine: through the whole of `search`, its answers are those of the embedded index."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from engines.conftest import ENGINES, Pair

MakePair = Callable[..., Pair]
WORDS = (
    "context boundary trust calculus holon system grammar migration database schema passage evidence claim agent role"
    " контекст граница доверие система холон правило свидетельство роль Kontext Grenze Vertrauen Speicherkapazität Haus"
).split()


def sections(random_: random.Random, count: int, words: int) -> str:
    out = []
    for number in range(count):
        text = " ".join(random_.choice(WORDS) for _ in range(random_.randint(3, words)))
        out.append(f"## Part {number} {random_.choice(WORDS)}\n\n{text}\n")
    return "\n".join(out)


def files() -> dict[str, str]:
    random_ = random.Random(7)
    out = {
        "docs/B.3.md": "---\nid: B.3\ntitle: Trust Calculus\naliases: [assurance, confidence algebra]\ntype: pattern\n"
        "status: draft\n---\n\n# B.3 - Trust Calculus\n\nTrust is a boundary of evidence.\n\n"
        "## B.3.1 - Roles\n\nRoles hold evidence.\n",
        "docs/A.1.md": "# A.1 - Holon\n\nA holon has a boundary. The bounded context is named.\n",
        "docs/A.10.md": "# A.10 - Evidence\n\nEvidence carries trust, and `apply_secrets` is DEC-0054.\n",
        "docs/ru/A.1.md": "---\nid: A.1\n---\n\n# A.1 - Холон\n\nУ холона есть граница. Контекст назван.\n",
        "docs/same-1.md": "# Same\n\nEqual words in equal sections.\n",
        "docs/same-2.md": "# Same\n\nEqual words in equal sections.\n",
        "notes/deutsch.md": "# Grenze\n\nDie Kontextgrenze gehört zum Haus; Häuser haben Grenzen und Speicherkapazität.\n",
        "notes/empty.md": "",
    }
    for number in range(12):
        out[f"docs/random-{number}.md"] = f"# Random {number}\n\n{sections(random_, 4, 900)}"
        out[f"notes/random-{number}.md"] = f"---\ntype: note\n---\n\n# Note {number}\n\n{sections(random_, 2, 40)}"
    return out


TOML = """
[[collections]]
name = "docs"
root = "docs/docs"
[[collections]]
name = "notes"
root = "docs/notes"
"""
QUERIES = (
    "trust calculus", "boundary", "the boundary of evidence", "контекст", "граница доверие", "Grenze", "Kontext Haus", "holon",
    "B.3", "A.1", "A.1 holon", "B.3.1", "assurance", "confidence algebra", "DEC-0054", "apply_secrets", "equal words",
    "Speicher", "trsut", "boundry", "evidense calculs", "контекс", "qwzxplorf", "the of and", "Part 1", "context context",
    "trust boundary system grammar migration database schema", "Random 3 system", "Häuser", "bounded context",
)  # fmt: skip
PHRASES = (
    '"bounded context"', '"trust boundary"', '"boundary evidence" holon', "boundary -trust", "system -holon -grammar",
    '"нет такой"',
)  # fmt: skip
FILTERS: tuple[dict[str, Any], ...] = (
    {"collections": ["notes"]},
    {"types": ["pattern"]},
    {"types": ["note"], "collections": ["notes"]},
    {"status": "draft"},
    {"language": "ru"},
    {"language": "de", "collections": ["docs", "notes"]},
)


@pytest.fixture(params=ENGINES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def pair(kind: str, make_pair: MakePair) -> Pair:
    return make_pair(kind, files(), toml=TOML)


def test_words_names_ids_and_corrections_are_ranked_the_same(pair: Pair) -> None:
    for query in QUERIES:
        pair.same(query, limit=10)


def test_phrases_and_exclusions_hold_the_same(pair: Pair) -> None:
    for query in PHRASES:
        pair.same(query, limit=10)


def test_filters_narrow_the_same(pair: Pair) -> None:
    for filters in FILTERS:
        for query in ("boundary evidence", "контекст", '"trust boundary"', "A.1"):
            pair.same(query, limit=10, **filters)


def test_a_glossary_and_unfinished_words_add_the_same(kind: str, make_pair: MakePair) -> None:
    terms = '[[terms]]\nen = "trust calculus"\nru = "доверие"\n[[terms]]\nen = "boundary"\nru = "граница"\nde = "Grenze"\n'
    pair = make_pair(
        kind, files() | {"words.toml": terms}, toml=TOML.replace('"docs"\n', '"docs"\nglossary = "docs/words.toml"\n', 1)
    )
    for query in ("граница", "Grenzen system", "trust calculus boundary", "доверие holon", '"граница" Grenze', "A.1 boundary"):
        pair.same(query, limit=10)
        assert pair.asking.search(query).also or '"' in query
    for query in ("bound", "trust bou", "A.1", "конт", "Speicherk", "dec-00", "c"):
        pair.same(query, limit=10, typing=True)


def test_pages_fit_together_as_they_do_without(pair: Pair) -> None:
    for offset in (0, 5, 20, 500):
        pair.same("boundary system", limit=5, offset=offset)
    pair.same("context", limit=50)


def test_edits_new_and_removed_files_answer_at_once_and_the_same(pair: Pair) -> None:
    pair.base.write("docs/A.1.md", "# A.1 - Holon\n\nA holon of another kind: zebra boundary.\n")
    pair.base.write("docs/new.md", "# New\n\nzebra context\n")
    (pair.base.root / "docs/same-1.md").unlink()
    for query in ("zebra", "boundary", "equal words", "context", "A.1"):
        pair.same(query, limit=10)


def test_edits_leave_the_engine_with_what_a_new_index_would_hold(pair: Pair) -> None:
    for number in range(30):
        pair.base.write(f"docs/random-{number % 12}.md", f"# Random\n\n{sections(random.Random(number), 5, 300)}")
        if number % 10 == 9:
            pair.index()
    held = pair.store.held(pair.alias)
    pair.asking.index(rebuild=True)
    assert held == pair.store.held(pair.alias)
    pair.same("boundary system", limit=10)
