"""What a base holds and what went wrong with it."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from bases import Base

MakeBase = Callable[..., Base]


def test_a_status_counts_what_is_there(make_base: MakeBase) -> None:
    base = make_base(
        {
            "a.md": "# A\n\nThe text of it is in English, and this is all.\n\n## One\n\nx\n\n### Deep\n\nx\n",
            "ru/a.md": "---\nlang: ru\n---\n# А\n\nи\n",
            "b.pdf": "x",
            "c.pdf": "x",
            "d.md": "",
        }
    )
    status = base.kb.status()
    (held,) = status.collections
    assert (held.documents, held.sections, dict(held.skipped)) == (3, 3, {"pdf": 2})
    assert held.languages["ru"] == 1
    assert (status.base, status.pending) == (str(base.root), 0)
    assert status.bytes > 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_a_pipe_that_is_left_out_is_said(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n"})
    os.mkfifo(base.root / "b.md")
    assert base.kb.status().collections[0].warnings == ("b.md: is a named pipe, left out",)
    os.mkfifo(base.root / "c.md")
    assert len(base.kb.status().collections[0].warnings) == 2


def test_odd_files_are_indexed_with_a_warning_that_names_file_and_line(make_base: MakeBase) -> None:
    base = make_base(
        {
            "yaml.md": "---\ntitle: a: b\n---\n# Yaml\n\nalpha\n",
            "path.md": "---\nkey: C:\\x\n---\n# Path\n\nalpha\n",
            "rule.md": "---\n\n# Rule\n\nalpha\n",
            "nul.md": b"# Nul\n\nal\0pha alpha\n",
            "mixed.md": b"# Mixed\r\n\nalpha\r\nbeta\n",
            "utf16.md": "# Wide\n\nalpha\n".encode("utf-16-be"),
            "cp1251.md": "# Кодировка\n\nэто старая русская кодировка, и слово alpha в ней\n".encode("cp1251"),
            "broken.md": b"# Broken\n\nalpha \xff\xfe beta\n",
            "good.md": "# Good\n\nalpha\n",
        }
    )
    assert len(base.ids("alpha")) == 9
    assert base.ids("кодировка") == ["cp1251"]
    warnings = base.kb.status().collections[0].warnings
    for name in ("yaml", "rule", "nul", "mixed", "utf16", "cp1251", "broken"):
        assert len([note for note in warnings if note.startswith(f"{name}.md:")]) == 1, name
    assert not any(note.startswith(("good.md", "path.md")) for note in warnings)


def test_odd_names_are_found(make_base: MakeBase) -> None:
    base = make_base({"документ №1.md": "# Раз\n\nalpha\n", "🐘.md": "# Слон\n\nalpha\n", "Gro\u0308ße.md": "# Drei\n\nalpha\n"})
    assert len(base.ids("alpha")) == 3
    for source in ("документ №1.md", "🐘.md", "Größe.md", "Gro\u0308ße.md"):
        assert base.kb.section(source).id is not None


def test_swap_hidden_and_ignored_files_are_left_out(make_base: MakeBase) -> None:
    files = dict.fromkeys((".a.md.swp", ".hidden.md", "a.md~", "#a.md#", ".git/x.md", "drafts/x.md", "secret.md"), "alpha\n")
    base = make_base({**files, "a.md": "alpha\n", ".gitignore": "drafts/\n", ".kbignore": "secret.md\n"})
    assert base.ids("alpha") == ["a"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser reads everything")
def test_an_unreadable_file_is_named_and_the_others_untouched(make_base: MakeBase) -> None:
    base = make_base({"a.md": "alpha\n", "b.md": "alpha\n"})
    (base.root / "b.md").chmod(0)
    assert base.ids("alpha") == ["a"]
    assert base.kb.list().error_count == 1


def test_a_link_that_leads_nowhere_is_named_and_the_others_untouched(make_base: MakeBase) -> None:
    base = make_base({"a.md": "alpha\n"})
    (base.root / "broken.md").symlink_to(base.root / "missing.md")
    (base.root / "out.md").symlink_to("/etc/hostname")
    assert base.ids("alpha") == ["a"]
    notes = base.kb.status().collections[0].warnings
    assert sorted(note.split(":")[0] for note in notes) == ["broken.md", "out.md"]


def test_files_that_changed_since_are_pending(make_base: MakeBase) -> None:
    toml = '[[collections]]\nname = "docs"\nroot = "docs"\n[index]\nrefresh_ms = 0\n'
    base = make_base({"a.md": "alpha\n"}, toml=toml)
    base.kb.index()
    base.write("b.md", "beta and more than nothing at all, so that it costs something to read\n")
    status = base.kb.status()
    assert status.pending == 1
    assert status.warning is not None
