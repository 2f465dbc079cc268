"""The benchmark measures what users get: the reader, files and scoring of `KnowledgeBase.search`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bases import Base

from kb.index import bulk, snapshot
from kb.ranking import bm25, impacts, joined

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
MakeBase = Callable[..., Base]


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import bench_engines

    yield bench_engines
    for name in [name for name in sys.modules if name.startswith("bench_")]:
        del sys.modules[name]


def test_the_engine_reads_through_the_snapshot_and_scoring_of_a_search(engines: Any) -> None:
    assert engines.load is snapshot.load
    assert engines.bm25 is bm25 is joined.bm25
    assert bm25.impacts is impacts is joined.impacts
    assert engines.bulk is bulk


def test_a_search_and_the_benchmark_open_the_same_files_and_give_the_same_scores(make_base: MakeBase, engines: Any) -> None:
    base = make_base({f"{n:02}.txt": f"marker word{n % 3} and word{n % 5}" for n in range(40)})
    base.kb.index()
    opened = engines.Kb().load(next(path.parent for path in base.cache.rglob("catalog.db")))
    catalog = base.kb._catalog()
    with catalog.reading():
        used = base.kb._state(catalog)
    assert type(opened) is type(used)
    assert [s.arrays.name for s in opened.segments] == [s.arrays.name for s in used.segments]
    found = engines.lexical(opened, [("word1", 1.0), ("word2", 1.0)], 50)
    answer = base.search("word1 word2", limit=50, explain=True)
    passages = sorted((part["passage"]["score"] for r in answer.results if (part := r.explanation)), reverse=True)
    assert [score for _, score in found] == pytest.approx([score for score in passages if score], abs=1e-5)


def test_the_scoring_that_is_measured_is_called_by_a_search(
    make_base: MakeBase, engines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = make_base({"a.md": "# A\n\nmarker\n"})
    base.kb.index()
    called = []
    monkeypatch.setattr(impacts.Kept, "of", lambda *a, real=impacts.Kept.of: called.append(a[1]) or real(*a))
    base.search("marker")
    searched = len(called)
    engines.lexical(engines.Kb().load(next(p.parent for p in base.cache.rglob("catalog.db"))), [("marker", 1.0)])
    assert 0 < searched < len(called)


def test_passages_and_queries_are_the_same_for_the_same_seed(tmp_path: Path, engines: Any) -> None:
    import bench_data

    text = tmp_path / "text"
    text.mkdir()
    words = " ".join(f"alpha{n % 97} beta{n % 89} gamma" for n in range(500))
    (text / "a.md").write_text(words, encoding="utf-8")
    for name in ("one", "two"):
        bench_data.prepare(text, 500, 5, tmp_path / name)
    for file in ("terms.i32", "lengths.i32", "vocabulary.json", "queries.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    tokens = engines.Tokens(tmp_path / "one")
    assert len(tokens.lengths) == 500
    assert int(tokens.lengths.sum()) == len(tokens.terms)
    assert {kind: len(found) for kind, found in tokens.queries().items()} == {"keywords": 5, "sentences": 5}
    engines.Kb().build(tokens, tmp_path / "kb")()
    opened = engines.Kb().load(tmp_path / "kb")
    query = engines.Kb().prepare(tokens, tokens.queries()["sentences"][0])
    assert len(engines.lexical(opened, query)) == 10


def test_the_report_holds_every_engine_ratio_and_bar(engines: Any) -> None:
    import bench_report

    times = {"p50": 1.0, "p99": 2.0, "mean": 1.1, "first": 1.0, "qps": 900.0, "low": 0.9, "high": 1.2}
    one = {"wall": 1.0, "cpu": 1.0, "peak": 10.0, "disk": 5.0, "load": 0.1, "agree": 0.0, "keywords": times}
    other = one | {"keywords": times | {"p50": 3.0}, "sentences": times}
    results = {
        "machine": {"date": "d", "cores": 2, "cpu": "c", "system": "s", "python": "p", "versions": {"numpy": "1"}, "load": 0.0},
        "lexical": {"1k": {"passages": 1000, "tokens": 5, "engines": {"kb": one | {"sentences": times}, "tantivy": other}}},
    }
    table = bench_report.tables(json.loads(json.dumps(results)))
    assert "| tantivy | 3 (3.00x)" in table
    drawn = bench_report.chart(results)
    assert drawn.count("tantivy") == 2
    assert drawn.startswith("<svg")
