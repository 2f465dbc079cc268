from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

REPORT = """
import os, sys
from kb.surfaces.start import main
code = main(sys.argv[1:])
heavy = "snowballstemmer Stemmer pymorphy3 markdown_it slugify pathspec yaml tomllib numpy.ma torch mcp starlette pydantic"
print("LOADED", [name for name in heavy.split() if name in sys.modules], os.environ.get("OPENBLAS_NUM_THREADS"), file=sys.stderr)
"""


def _run(*arguments: str) -> str:
    run = subprocess.run([sys.executable, "-c", REPORT, *arguments], capture_output=True, text=True, check=True)
    return next(line for line in run.stderr.splitlines() if line.startswith("LOADED"))


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# Boundary\n\nThe boundary of contexts. Граница контекста.\n", encoding="utf-8")
    return folder


def test_a_search_on_known_words_loads_nothing_heavy(notes: Path) -> None:
    _run("index", "--base", str(notes))
    assert _run("search", "boundary", "--base", str(notes)) == "LOADED [] 1"
    assert _run("search", "граница", "--base", str(notes)) == "LOADED [] 1"


def test_what_ranks_nothing_and_writes_nothing_loads_no_numpy(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "REPORT", REPORT.replace("numpy.ma", "numpy multiprocessing"))
    time.sleep(2.1)  # a file just written is looked into again, and nobody can set the time at which it was changed
    assert "numpy" in _run("index", "--base", str(notes))
    assert _run("index", "--base", str(notes)) == "LOADED [] 1"
    assert _run("section", "a.md", "--base", str(notes)) == "LOADED [] 1"
    assert _run("list", "--base", str(notes)) == "LOADED [] 1"


@pytest.mark.parametrize(("there", "threads"), [("True", "None"), ("False", "1")])
def test_semantic_search_keeps_the_threads_of_linear_algebra_where_a_model_may_use_them(
    notes: Path, monkeypatch: pytest.MonkeyPatch, there: str, threads: str
) -> None:
    given = f"import kb.embedding.loading\nkb.embedding.loading._installed = lambda package: {there}\n"
    monkeypatch.setattr(sys.modules[__name__], "REPORT", given + REPORT)
    assert _run("search", "boundary", "--semantic", "--base", str(notes)).endswith(threads)


def test_a_number_of_threads_that_was_chosen_stays(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    assert _run("search", "boundary", "--base", str(notes)).endswith(" 2")


def test_a_short_command_ends_with_its_whole_answer_and_its_code(notes: Path) -> None:
    command = [sys.executable, "-m", "kb", "search", "boundary", "--base", str(notes), "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout)["results"][0]["title"] == "Boundary"
    run = subprocess.run([sys.executable, "-m", "kb", "section", "none", "--base", str(notes)], capture_output=True, text=True)
    assert (run.returncode, run.stderr.count("\n")) == (1, 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_short_command_whose_answer_cannot_be_written_says_so_once(notes: Path) -> None:
    command = [sys.executable, "-m", "kb", "search", "boundary", "--base", str(notes)]
    with open("/dev/full", "w") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 3
    assert run.stderr.splitlines()[-1].startswith("kb: No space left")
    assert "Exception ignored" not in run.stderr
