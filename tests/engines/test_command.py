"""`kb engine`, and what `kb status` says of an engine, through the command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("qdrant_client", reason="qdrant-client is not installed: pip install 'kb-search[qdrant]'")

from bases import Base

from engines.server import KEY, Server, serving
from engines.test_contract import TOML, files
from kb.config import load, locate
from kb.errors import ConfigError
from kb.surfaces.cli import main

pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def base(server: Server, make_base: Callable[..., Base], monkeypatch: pytest.MonkeyPatch) -> Base:
    monkeypatch.setenv("KB_QDRANT_KEY", KEY)
    return make_base(files(), f'{TOML}\n[engine]\nkind = "qdrant"\nurl = "{server.url}"\n')


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    said = capsys.readouterr()
    return code, said.out, said.err


def test_export_fills_the_engine_and_status_says_so(base: Base, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "engine", "export", "--base", str(base.path), "--json")
    exported: dict[str, Any] = json.loads(out)["engine"]
    assert (code, exported["behind"], exported["state"]) == (0, 0, "green")
    code, out, _ = run(capsys, "status", "--base", str(base.path), "--json")
    assert json.loads(out)["engine"] == exported
    _, out, _ = run(capsys, "status", "--base", str(base.path))
    assert (
        f"engine: qdrant 1.20.0, {exported['alias']}: {exported['points']} points in 1 shards, green; 0 documents behind" in out
    )


def test_import_without_vectors_takes_none(base: Base, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "index", "--base", str(base.path))
    assert run(capsys, "engine", "import", "--base", str(base.path))[:2] == (0, "0 vectors taken\n")


def test_an_engine_that_does_not_answer_is_one_line_and_exit_3(
    base: Base, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(capsys, "index", "--base", str(base.path))
    monkeypatch.setenv("KB_QDRANT_KEY", "another")
    code, out, error = run(capsys, "search", "boundary", "--base", str(base.path))
    assert (code, out) == (3, "")
    assert error.endswith("refused the key; set KB_QDRANT_KEY to one that may read and write\n")
    assert error.count("\n") == 1
    code, out, _ = run(capsys, "status", "--base", str(base.path))
    assert code == 0
    assert "refused the key" in out


def test_a_kb_toml_found_upwards_may_not_name_an_engine(base: Base) -> None:
    with pytest.raises(ConfigError, match=r"engine\.kind is 'qdrant'; name this kb.toml with --base"):
        locate(None, base.place)
    assert load(base.path).engine.kind == "qdrant"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('kind = "solr"', "valid: embedded, qdrant"),
        ('kind = "qdrant"', "engine.url is ''; write the server's address"),
        ('kind = "qdrant"\nurl = "file:///etc"', "write the server's address"),
        ('kind = "qdrant"\nurl = "http://me:secret@host"', "write the server's address"),
        ('kind = "qdrant"\nurl = "http://host"\nprefix = "a b"', "write letters, digits"),
        ('key = "secret"', "unknown key engine.key; valid: kind, url, prefix"),
    ],
)
def test_what_can_not_be_meant_is_refused(base: Base, lines: str, message: str) -> None:
    base.path.write_text(f"{TOML}\n[engine]\n{lines}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load(base.path)


def test_a_base_without_an_engine_imports_nothing_of_one(make_base: Callable[..., Base]) -> None:
    base = make_base({"a.md": "# A\n\nboundary\n"})
    code = (
        "import sys; from kb.base import KnowledgeBase; b = KnowledgeBase(sys.argv[1], cache=sys.argv[2]);"
        "assert b.search('boundary').results; print(' '.join(sorted(sys.modules)))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code, str(base.root), str(base.cache)], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not [name for name in loaded if name.partition(".")[0] in ("qdrant_client", "grpc", "httpx")]
    assert [name for name in loaded if name.startswith("kb.engines")] == ["kb.engines", "kb.engines.part"]
