"""`kb eval` and scripts/evaluate as their users run them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bases import Base

from kb.surfaces.cli import main

MakeBase = Callable[..., Base]
REPOSITORY = Path(__file__).parents[2]
LINES = [
    {"id": "q1", "query": "windy", "relevant": ["a.md"], "class": "word", "language": "en"},
    {"id": "q2", "query": "qwzx plorf", "relevant": [], "class": "nonsense", "language": "en"},
]


@pytest.fixture
def base(make_base: MakeBase) -> Base:
    made = make_base({"a.md": "# A\n\nwindy\n", "b.md": "# B\n\ncalm\n"})
    gold(made.place, *LINES)
    return made


def gold(folder: Path, *lines: dict[str, object]) -> Path:
    file = folder / "gold.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def run(base: Base, *options: str) -> int:
    return main(["eval", str(base.place / "gold.jsonl"), "--base", str(base.root), *options])


def test_the_command_prints_json_with_the_measures(base: Base, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(base, "--json") == 0
    body = json.loads(capsys.readouterr().out)
    assert body["measures"]["MRR@10"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert body["measures"]["abstained"]["value"] == 1
    assert body["questions"] == 2


def test_the_command_prints_a_table_and_writes_a_drawing_and_trec_files(
    base: Base, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    chart, folder = tmp_path / "chart.svg", tmp_path / "trec"
    assert run(base, "--compare", "fuzzy=false", "--chart", str(chart), "--trec", str(folder)) == 0
    assert "difference, paired" in capsys.readouterr().out
    assert chart.read_text(encoding="utf-8").startswith("<svg")
    assert sorted(path.name for path in folder.iterdir()) == ["changed.run", "gold.qrels", "kb.run"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--collection", "zz"], "unknown collection 'zz'; there are: docs"),
        (["--compare", "k3=1"], "--compare: unknown key 'k3'"),
        (["--compare", "k1"], "--compare needs KEY=VALUE"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_two(
    base: Base, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert run(base, *options, "--json") == 2
    printed = capsys.readouterr()
    assert message in json.loads(printed.out)["error"]
    assert message in printed.err and printed.err.count("\n") == 1


def test_a_relevant_id_that_the_base_does_not_hold_is_an_error(base: Base, capsys: pytest.CaptureFixture[str]) -> None:
    file = gold(base.place, LINES[0], LINES[1] | {"relevant": ["B.99"]})
    assert run(base) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"{file}:2: the base holds no section or file 'B.99'" in printed.err


def test_a_gold_file_is_looked_at_before_the_base(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["eval", str(tmp_path / "none.jsonl"), "--base", str(tmp_path / "nowhere")]) == 2
    assert "gold file not found" in capsys.readouterr().err


def test_without_the_extra_one_line_says_how_to_install_it(
    base: Base, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    assert run(base) == 1
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert 'pip install "kb-search[eval]"' in printed.err


def test_a_search_imports_nothing_of_evaluation(base: Base) -> None:
    code = (
        "import sys; from kb.surfaces.cli import main; main(sys.argv[1:]);"
        "sys.exit(any(m.startswith(('kb.evaluation', 'ir_measures')) for m in sys.modules))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code, "search", "windy", "--base", str(base.root)], capture_output=True).returncode
        == 0
    )


# -- scripts/evaluate --------------------------------------------------------------------------------------------


def script(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(REPOSITORY / "scripts" / "evaluate"), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    for name, body in (("one", "windy"), ("two", "migration")):
        docs = tmp_path / "sets" / name / "docs"
        docs.mkdir(parents=True)
        (docs / "a.md").write_text(f"# A\n\n{body}\n", encoding="utf-8")
        (docs / "b.md").write_text("# B\n\ncalm\n", encoding="utf-8")
        gold(docs.parent, {"id": "q1", "query": body, "relevant": ["a"], "class": "word", "language": "en"})
    return tmp_path / "sets"


def test_the_script_finds_every_set_below_a_folder(sets: Path) -> None:
    ran = script(str(sets))
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("| set | half | questions | n | nDCG@10 |")
    assert [line.split(" | ")[:4] for line in lines[2:]] == [
        ["| sets/one", "dev", "all", "1"],
        ["| sets/two", "dev", "all", "1"],
    ]


def test_the_script_misspells_ablates_and_sweeps(sets: Path) -> None:
    typos = script(str(sets), "--typos", "3", "--set", "fuzzy=false")
    assert typos.stdout.splitlines()[2].split(" | ")[4].startswith(".000")
    ablated = script(str(sets), "--ablate", "--only", "title,passage", "--measure", "R@1")
    rows = [line.split(" ")[1] for line in ablated.stdout.splitlines()[2:]]
    assert rows == ["(nothing)", "title", "passage"]
    swept = script(str(sets), "--sweep", "--only", "b", "--name", "one")
    assert swept.stdout.count("(now)") == 1
    assert (typos.returncode, ablated.returncode, swept.returncode) == (0, 0, 0)


def test_a_set_that_is_broken_is_named_and_the_others_are_measured(sets: Path) -> None:
    gold(sets / "one", {"id": "q1", "query": "windy", "relevant": ["z"]})
    ran = script(str(sets))
    assert ran.returncode == 2
    assert "set left out" in ran.stderr and "'z'" in ran.stderr
    assert "sets/two" in ran.stdout and "sets/one" not in ran.stdout


def test_the_script_says_where_an_answer_by_meaning_fell_back_to_keywords(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_SIMILARITY_DISABLED", "1")
    ran = script(str(sets), "--semantic", "--name", "one")
    assert "sets/one" in ran.stdout
    assert ran.stderr.count("evaluate: sets/one: semantic search requested but ") == 1


def test_a_folder_without_a_set_is_an_error(tmp_path: Path) -> None:
    ran = script(str(tmp_path))
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "no gold set found" in ran.stderr
