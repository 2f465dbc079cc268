"""A thousand files that come one by one leave the index that a rebuild makes, to the last bit."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from bases import Base

from kb.index import changes

MakeBase = Callable[..., Base]
WORDS = [f"word{n}" for n in range(400)] + ["boundary", "Grenze", "граница", "context", "Kontext", "контекст"]


def one_by_one(make_base: MakeBase, files: int) -> None:
    chance = random.Random(files)
    base = make_base()

    def text() -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(1, 60)))

    for n in range(files):
        base.write(f"{n % 7}/{n}.md", f"# Note {n} {chance.choice(WORDS)}\n\n{text()}\n\n## Part\n\n{text()}\n")
        base.kb.search("boundary") if n % 3 else base.kb.index()
    fresh = base.rebuilt()
    for _ in range(60):
        query = " ".join(chance.sample(WORDS, chance.randint(1, 6)))
        kept, made = base.search(query, limit=50, explain=True), fresh.search(query, limit=50, explain=True)
        assert kept.as_json() == made.as_json()
        assert [result.score.hex() for result in kept.results] == [result.score.hex() for result in made.results]
    assert base.kb.status().segments <= 16


def test_files_that_come_one_by_one_score_as_in_a_rebuild(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_DOUBT_NS", 0)  # a file just written would be looked into again each time
    one_by_one(make_base, 40)


@pytest.mark.slow
def test_a_thousand_files_that_come_one_by_one_score_as_in_a_rebuild(
    make_base: MakeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "_DOUBT_NS", 0)  # a file just written would be looked into again each time
    one_by_one(make_base, 1000)
