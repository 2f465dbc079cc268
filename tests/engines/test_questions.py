"""Questions to real documents have the same answers with every engine: after an index run, and after edits.

With KB_ALL_QUESTIONS set they are 300, and 1,000 edits, which takes the client's own memory a quarter of an hour; else a tenth.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from engines import questions
from engines.conftest import ENGINES
from engines.likeness import differences
from kb.base import KnowledgeBase
from kb.engines import fill, state
from kb.engines.engine import Engine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not questions.SHARED.is_dir(), reason=f"needs the question sets, which are not in {questions.SHARED}"),
    pytest.mark.filterwarnings("ignore:Local mode"),  # said by the client's own memory, of its size and of exactness
]
ALL = "KB_ALL_QUESTIONS" in os.environ
EDITS, ROUNDS = 1000 if ALL else 100, 10


@pytest.mark.parametrize("kind", ENGINES)
def test_questions_have_the_same_answers(kind: str, make_store: Any, tmp_path: Path) -> None:
    path, asked = questions.base(tmp_path / "base"), questions.questions()
    assert len(asked) == 300
    asked = asked if ALL else asked[::10]
    engine = Engine(make_store(kind), "kb-test")
    with (
        KnowledgeBase(path, cache=tmp_path / "embedded") as embedded,
        KnowledgeBase(path, cache=tmp_path / "asking", engine=engine) as asking,
    ):

        def same(some: slice = slice(None)) -> None:
            ours = asking.search_many(asked[some], limit=10)
            theirs = embedded.search_many(asked[some], limit=10)
            assert [found for one, other in zip(ours, theirs, strict=True) for found in differences(one, other)] == []

        for one in (embedded, asking):
            one.index()
        same()
        held = state.current(asking._catalog())
        assert held is not None
        editor = questions.Editor(tmp_path / "base")
        for number in range(ROUNDS):
            for _ in range(EDITS // ROUNDS):
                editor.edit()
            for one in (embedded, asking):
                one.index()
            same(slice(number, None, 30))
        same()
        now = state.current(asking._catalog())
        assert now is not None
        snapshot = asking._state(asking._catalog())
        for then, mean in zip(now.means, (snapshot.text.mean, snapshot.head.mean), strict=True):
            assert abs(mean - then) <= fill.DRIFT * then
