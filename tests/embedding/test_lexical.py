"""Lexical vectors: the same numbers on every machine."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from bases import Base
from hypothesis import given
from hypothesis import strategies as st

from kb.embedding import lexical
from kb.errors import ArgumentError

MakeBase = Callable[..., Base]
TEN = [
    "trust calculus", "исчисление доверия", "Vertrauenskalkül für Zusicherungen", "ёлка", "🐘", "A.6.3.CR", "中文合約",
    "배포", "café naïve", "a b c",
]  # fmt: skip
FILES = {
    "a.md": "# Trust\n\nA calculus of trust.\n",
    "b.md": "# Доверие\n\nИсчисление доверия.\n",
    "c.md": "# Kalkül\n\nÜber Vertrauen und Zusicherung.\n",
    "d.md": "# 🐘\n\n🐘🐘\n",
}


def test_ten_vectors_have_the_digest_they_had() -> None:
    digest = hashlib.blake2b(np.array([lexical.counts(text) for text in TEN], dtype="<i4").tobytes(), digest_size=8)
    assert digest.hexdigest() == "dad99df5102fcd44"


def test_every_vector_of_a_text_with_a_token_has_length_one() -> None:
    for text in TEN:
        assert sum(number * number for number in lexical.normalised_counts(text)) == pytest.approx(1)


def test_ё_is_е_and_case_does_not_count() -> None:
    assert lexical.counts("Ёлка") == lexical.counts("елка")


def test_function_words_count_only_while_nothing_else_is_there() -> None:
    assert lexical.counts("the trust") == lexical.counts("trust")
    assert any(lexical.counts("the"))


@given(st.text(max_size=60), st.text(max_size=60))
def test_cosines_are_within_bounds_and_a_text_is_nearest_to_itself(first: str, second: str) -> None:
    rows = np.array([lexical.counts(first), lexical.counts(second)], dtype=np.float32)
    found = lexical.cosines(rows, lexical.counts(first))
    assert ((found >= -1 - 1e-12) & (found <= 1 + 1e-12)).all()
    if any(lexical.counts(first)):
        assert found[0] == pytest.approx(1)


@pytest.mark.parametrize(("query", "first"), [("trust", "a"), ("доверия", "b"), ("Vertrauen", "c"), ("🐘", "d")])
def test_any_script_is_found(make_base: MakeBase, query: str, first: str) -> None:
    assert make_base(FILES).kb.vector(query).results[0]["id"] == first


def test_two_processes_rank_alike(make_base: MakeBase, tmp_path) -> None:  # type: ignore[no-untyped-def]
    base = make_base(FILES)
    code = (
        "import json, sys\nfrom kb.base import KnowledgeBase\n"
        f"with KnowledgeBase({str(base.path)!r}, cache=sys.argv[1]) as kb:\n"
        "    print(json.dumps(kb.vector('vertrauen trust').as_json()))"
    )
    outs = {
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], capture_output=True, text=True, check=True).stdout
        for name in ("one", "two")
    }
    assert len(outs) == 1


def test_the_answer_has_its_keys_in_order_and_top_k_is_clamped_to_the_base(make_base: MakeBase) -> None:
    answer = make_base(FILES).kb.vector("trust", top_k=1000).as_json()
    assert list(answer) == ["query", "top_k", "returned", "method", "results", "disclaimer"]
    assert answer["top_k"] == 1000 and answer["returned"] == len(answer["results"]) == 4
    assert list(answer["results"][0]) == ["type", "id", "title", "status", "path", "source", "score"]


def test_a_clause_brings_its_own_fields(make_base: MakeBase) -> None:
    front = "---\nid: s:1:c\ntype: clause\nscheme: s\nversion: '1'\nclause: c\nsummary: Short.\n---\n"
    row = make_base({"c.md": front + "# Limit\n\nTen seconds.\n"}).kb.vector("ten seconds").results[0]
    assert (row["scheme"], row["version"], row["clause"], row["summary"]) == ("s", "1", "c", "Short.")


@pytest.mark.parametrize("query", ["!!!", "…", "- - -", "_"])
def test_a_query_without_a_token_is_an_error_in_one_line(make_base: MakeBase, query: str) -> None:
    with pytest.raises(ArgumentError, match="the query holds no word") as error:
        make_base(FILES).kb.vector(query)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("top_k", ["5", True, 2.0, None, 0, -1])
def test_a_number_of_rows_that_is_none_is_refused(make_base: MakeBase, top_k: object) -> None:
    with pytest.raises(ArgumentError, match="top_k must be"):
        make_base(FILES).kb.vector("trust", top_k=top_k)  # type: ignore[arg-type]


def test_an_edit_is_seen_at_once(make_base: MakeBase) -> None:
    base = make_base(FILES)
    assert base.kb.vector("elephants").results[0]["score"] < 0.9
    base.write("e.md", "# Elephants\n\nElephants.\n")
    assert base.kb.vector("elephants").results[0]["id"] == "e"
