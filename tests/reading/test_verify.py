"""`kb doctor --verify`: files against their checksums, scores against another program."""

from __future__ import annotations

import os
from collections.abc import Callable

from bases import Base

MakeBase = Callable[..., Base]


def checks(base: Base) -> dict[str, tuple[bool | None, str]]:
    return {check.name: (check.ok, check.detail) for check in base.kb.doctor(verify=True).checks}


def test_scores_of_all_variants_are_compared_with_rank_bm25(make_base: MakeBase) -> None:
    base = make_base({f"{n}.md": f"# Note {n}\n\nwind over London {n}\n\n## Part\n\nmore of it\n" for n in range(12)})
    base.kb.index()
    base.write("3.md", "# Note 3\n\ncalm\n")
    base.kb.index()
    found = checks(base)
    for scoring in ("lucene", "okapi", "plus", "l"):
        ok, detail = found[f"scores ({scoring})"]
        assert ok is True
        assert "from rank-bm25" in detail
    assert found["integrity"][0] is True


def test_a_base_without_text_has_nothing_to_compare(make_base: MakeBase) -> None:
    base = make_base({"a.md": ""})
    base.kb.index()
    assert checks(base)["scores"][0] is None


def test_a_file_that_is_not_as_it_was_written_is_named(make_base: MakeBase) -> None:
    base = make_base({f"{n}.md": f"# Note {n}\n\nwind over London {n}\n" for n in range(12)})
    base.kb.index()
    segment = next(base.cache.rglob("*.seg"))
    status, data = segment.stat(), segment.read_bytes()
    segment.write_bytes(data[:-5] + bytes(5 * [7]))
    os.utime(segment, ns=(status.st_atime_ns, status.st_mtime_ns))
    ok, detail = checks(base)["integrity"]
    assert ok is False
    assert segment.name in detail
    assert "kb index --rebuild" in detail
