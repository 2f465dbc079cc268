from __future__ import annotations

import json
import re

import pytest
from conftest import MakeBase

from kb.base import KnowledgeBase
from kb.config import shipped
from kb.errors import ArgumentError, NotFound

CLAUSE = """---
id: sct:2025:recall
type: clause
title: Recall
scheme: sct
version: "2025"
clause: recall
summary: Ten days.
source_url: https://example.org/rulebook
as_of: 2025-10-05
disclaimer: Not advice.
aliases: [camt.056]
---
# Recall

Text.
"""


@pytest.fixture(scope="module")
def rulebook(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    return KnowledgeBase(shipped(), cache=tmp_path_factory.mktemp("cache"))


def test_a_clause_comes_with_its_source_its_date_and_what_it_is_worth(make_base: MakeBase) -> None:
    body = make_base({"recall.md": CLAUSE}).kb.cite("SCT:2025:Recall").as_json()
    assert list(body)[:9] == [
        "id", "scheme", "version", "clause", "title", "summary", "source_url", "as_of", "disclaimer",
    ]  # fmt: skip
    assert (body["id"], body["version"], body["as_of"]) == ("sct:2025:recall", "2025", "2025-10-05")
    assert (body["source_url"], body["disclaimer"], body["summary"]) == (
        "https://example.org/rulebook", "Not advice.", "Ten days.",
    )  # fmt: skip
    assert (body["aliases"], body["type"], body["source"]) == (["camt.056"], "clause", "recall.md")


def test_a_section_of_another_type_is_no_clause(make_base: MakeBase) -> None:
    base = make_base({"recall.md": CLAUSE, "B.3.md": "---\ntype: pattern\n---\n# B.3 - Trust\n"})
    with pytest.raises(NotFound) as caught:
        base.kb.cite("B.3")
    assert str(caught.value) == "clause not found: B.3 is a section of type pattern; read it with: kb section B.3"


def test_an_unknown_clause_names_the_nearest_clauses_only(make_base: MakeBase) -> None:
    base = make_base({"recall.md": CLAUSE, "sct.md": "---\nid: sct:2025:recall-notes\n---\n# Notes\n"})
    with pytest.raises(NotFound, match=r"^clause not found: sct:2025:recal$") as caught:
        base.kb.cite("sct:2025:recal")
    assert caught.value.suggestions == ("sct:2025:recall",)


def test_bad_ids_and_languages_are_refused(make_base: MakeBase) -> None:
    base = make_base({"recall.md": CLAUSE})
    for id_, language in (("", None), ("../x", None), ("sct:2025:recall", "german")):
        with pytest.raises(ArgumentError):
            base.kb.cite(id_, language=language)
    assert not base.cache.exists()


def test_clauses_are_listed_and_filtered_by_their_front_matter(rulebook: KnowledgeBase) -> None:
    every = rulebook.list(types=["clause"], max_results=100)
    assert every.total >= 12
    assert {row.collection for row in every.rows} == {"rulebook"}
    schemes = {"sct", "sct-inst", "cbpr-plus", "hvps-plus"}
    counts = {scheme: rulebook.list(types=["clause"], where=[("scheme", scheme)]).total for scheme in schemes}
    assert all(counts.values())
    assert sum(counts.values()) == every.total


def test_every_shipped_clause_is_whole(rulebook: KnowledgeBase) -> None:
    status = next(held for held in rulebook.status().collections if held.name == "rulebook")
    assert status.errors == status.warnings == status.clashes == ()
    for row in rulebook.list(types=["clause"], max_results=100).rows:
        clause = rulebook.cite(row.id or "")
        assert clause.id == f"{clause.scheme}:{clause.version}:{clause.clause}"
        assert clause.title and clause.summary and clause.disclaimer
        assert re.fullmatch(r"https://[a-z.-]+/\S+", clause.source_url or "")
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", clause.as_of or "")
        assert json.loads(json.dumps(clause.as_json()))["id"] == row.id


def test_every_shipped_clause_says_the_same_in_three_languages(rulebook: KnowledgeBase) -> None:
    for row in rulebook.list(types=["clause"], max_results=100).rows:
        assert row.languages == ("de", "en", "ru")
        variants = [rulebook.cite(row.id or "", language=language) for language in row.languages]
        assert len({(one.source_url, one.as_of, one.version) for one in variants}) == 1
        assert len({one.summary for one in variants}) == 3
        texts = [rulebook.section(row.id or "", language=language).body for language in row.languages]
        assert (
            len({tuple(sorted(re.findall("[A-Z]{2}[0-9]{2}|(?:camt|pacs)[.][0-9]{3}|[0-9]{3,4}", text))) for text in texts}) == 1
        )


def test_the_shipped_tasks_fit_their_schema(rulebook: KnowledgeBase) -> None:
    status = next(held for held in rulebook.status().collections if held.name == "tasks")
    assert status.errors == ()
    russian, english = rulebook.parsed("TSK-1", language="ru"), rulebook.parsed("TSK-1")
    assert [heading.name for heading in russian.headings[1:]] == [heading.name for heading in english.headings[1:]]
    assert [item.done for item in russian.items] == [item.done for item in english.items]
    assert rulebook.list(types=["tsk"], status="draft").rows[0].id == "TSK-2"
