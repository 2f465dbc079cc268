"""What a report looks like: JSON, table, drawing, TREC."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from xml.dom import minidom

import ir_measures
import pytest

from kb.errors import ArgumentError
from kb.evaluation import chart, report, table, trec
from kb.evaluation.gold import Judged, Question, Unit
from kb.evaluation.intervals import Estimate
from kb.evaluation.run import Run


def judged(id_: str, relevant: list[str], class_: str | None, language: str | None) -> Judged:
    return Judged(
        Question(id_, "windy", tuple(relevant), class_, language, 1), "id", frozenset(Unit("docs", name) for name in relevant)
    )


QUESTIONS = (
    judged("q1", ["a"], "word", "en"),
    judged("q2", ["b", "c d"], "<task> & more", "de"),
    judged("q3", [], "nonsense", None),
    judged("q4", ["e"], None, "de"),
)


def made(**changes: list[str]) -> report.Report:
    ranked = {"q1": ["x", "a"], "q2": ["b"], "q3": ["x"], "q4": []} | changes
    return report.report(QUESTIONS, Run({q: [Unit("docs", n) for n in names] for q, names in ranked.items()}, "keyword", ()))


COMPARED = report.compare(made(), made(q1=["a"], q3=[]), {"k1": 1.5})


def test_json_has_the_promised_keys_first_and_in_order() -> None:
    body = made().as_json()
    assert list(body)[:5] == ["measures", "classes", "languages", "mode", "questions"]
    assert list(body["measures"]) == ["nDCG@10", "MRR@10", "R@1", "R@5", "abstained"]
    assert list(body["measures"]["R@1"]) == ["value", "low", "high"]
    assert (body["mode"], body["questions"], body["left_empty"]) == ("keyword", 4, 1)
    json.dumps(body, allow_nan=False)


def test_groups_hold_their_own_questions_and_those_without_a_label_are_in_none() -> None:
    body = made().as_json()
    assert list(body["classes"]) == ["<task> & more", "nonsense", "word"]
    assert list(body["languages"]) == ["de", "en"]
    assert body["classes"]["word"]["MRR@10"]["value"] == 0.5
    assert body["languages"]["de"]["R@5"]["value"] == 0.25  # half of q2's two, nothing of q4's one
    assert body["classes"]["nonsense"]["abstained"]["value"] == 0
    assert body["classes"]["nonsense"]["nDCG@10"]["value"] is None


def test_json_of_a_comparison_adds_the_other_configuration_and_the_difference() -> None:
    body = COMPARED.as_json()
    assert body["compare"]["changed"] == {"k1": 1.5}
    assert body["compare"]["measures"]["abstained"]["value"] == 1
    assert body["compare"]["difference"]["MRR@10"]["value"] == pytest.approx(0.5 / 3, abs=1e-6)


def test_the_table_shows_every_group_with_its_number_of_questions_and_bars() -> None:
    shown = table.text(made())
    assert "4 questions, keyword mode" in shown
    assert re.search(r"^all +4 +\.\d{3} \(", shown, re.MULTILINE)
    assert re.search(r"^de +2 ", shown, re.MULTILINE)
    assert "nothing came back for 1 questions that have an answer" in shown
    assert len(re.findall("█|·", shown)) % 40 == 0


def test_the_comparison_marks_what_is_sure() -> None:
    assert table.change(Estimate(0.1, 0.01, 0.2)) == "+0.100* (+0.010 to +0.200)"
    assert table.change(Estimate(0.1, -0.01, 0.2)) == "+0.100 (-0.010 to +0.200)"
    assert "changed: k1=1.5 (keyword mode)" in table.comparison(COMPARED)


@pytest.mark.parametrize(("value", "shown"), [(0.5, ".500"), (1.0, "1.000"), (0.0, ".000"), (0.9999, "1.000")])
def test_numbers_are_written_without_the_zero_before_the_point(value: float, shown: str) -> None:
    assert table.number(value) == shown


@pytest.mark.parametrize("shown", [made(), COMPARED], ids=["one", "two"])
def test_the_drawing_is_xml_and_names_every_group(shown: report.Report | report.Comparison) -> None:
    drawn = minidom.parseString(chart.svg(shown).encode())
    texts = [node.firstChild.data for node in drawn.getElementsByTagName("text") if node.firstChild]
    assert {"all (4)", "<task> & more (1)", "word (1)", "de (2)"} <= set(texts)


def test_the_export_measures_the_same_elsewhere(tmp_path: Path) -> None:
    files = trec.export(COMPARED, tmp_path / "new" / "folder")
    assert [path.name for path in files] == ["gold.qrels", "kb.run", "changed.run"]
    qrels = list(ir_measures.read_trec_qrels(str(files[0])))
    for path, expected in ((files[1], COMPARED.first), (files[2], COMPARED.second)):
        found = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, list(ir_measures.read_trec_run(str(path))))
        assert found[ir_measures.nDCG @ 10] == pytest.approx(expected.measures["nDCG@10"].value)


def test_white_space_in_ids_does_not_break_a_line() -> None:
    assert trec.qrels(QUESTIONS)[2] == "q2 0 c%20d@docs 1"
    assert trec.run(made(), "kb")[:2] == ["q1 Q0 x@docs 1 2 kb", "q1 Q0 a@docs 2 1 kb"]


def test_a_place_that_can_not_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken.svg").mkdir()
    with pytest.raises(ArgumentError, match=r"taken\.svg can't be written"):
        trec.write(tmp_path / "taken.svg", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.svg"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "out"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        trec.write(pipe, "x\n")
        assert os.read(reader, 10) == b"x\n"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_what_a_link_points_to_is_written_and_the_link_stays(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to("real.txt")
    trec.write(link, "x\n")
    assert link.is_symlink()
    assert (tmp_path / "real.txt").read_text(encoding="utf-8") == "x\n"
