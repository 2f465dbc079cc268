"""What the package promises to those who import it."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import kb.errors
from kb.base import KnowledgeBase
from kb.errors import ArgumentError, BaseUnusable, ConfigError, IndexBusy, IndexDamaged, KBError, NotFound


def test_every_error_is_one_that_a_caller_can_catch() -> None:
    for _, kind in inspect.getmembers(kb.errors, inspect.isclass):
        if kind.__module__ == "kb.errors":
            assert issubclass(kind, KBError)
            assert kind.exit_code in (1, 2, 3)
            assert kind.__name__ in (kb.errors.__doc__ or "")


@pytest.mark.parametrize(
    ("kind", "code"),
    [(ArgumentError, 2), (NotFound, 1), (BaseUnusable, 3), (ConfigError, 2), (IndexDamaged, 3), (IndexBusy, 3)],
)
def test_an_error_says_how_the_command_ends(kind: type[KBError], code: int) -> None:
    assert kind("x").exit_code == code


def test_every_public_method_says_what_it_does() -> None:
    for name, method in inspect.getmembers(KnowledgeBase, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.getdoc(method), name


def test_a_search_on_an_unchanged_base_imports_nothing_heavy(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nсловарь людей and boundaries\n", encoding="utf-8")
    code = (
        "import sys; from kb.base import KnowledgeBase; b = KnowledgeBase(sys.argv[1], cache=sys.argv[2]);"
        "assert b.search('людей boundaries').results; print(' '.join(sorted({m.partition('.')[0] for m in sys.modules})))"
    )
    # A file is relied on only once it is two seconds old.
    import os
    import time

    old = time.time() - 60
    os.utime(tmp_path / "docs" / "a.md", (old, old))
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "docs"), str(tmp_path / "cache")],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    heavy = {"torch", "pymorphy3", "snowballstemmer", "markdown_it", "slugify", "yaml", "charset_normalizer", "starlette", "mcp"}
    assert not heavy & set(runs[1])


def test_importing_the_package_does_no_work() -> None:
    code = "import sys, kb; print(' '.join(m for m in sys.modules if m.partition('.')[0] == 'kb'))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert out == ["kb"]
