"""Blocks that many documents repeat don't rank, as long as they are repeated."""

from __future__ import annotations

from collections.abc import Callable

from bases import Base

MakeBase = Callable[..., Base]
FOOTER = "All rights reserved by the zebra company.\n"


def numbered(count: int, footer: str = FOOTER) -> dict[str, str]:
    return {f"{n}.md": f"# Note {n}\n\ntext number {n}\n\n{footer}" for n in range(count)}


def test_a_block_of_four_documents_ranks_and_of_five_does_not(make_base: MakeBase) -> None:
    base = make_base(numbered(4))
    assert len(base.ids("zebra")) == 4
    base.write("4.md", f"# Note 4\n\ntext number 4\n\n{FOOTER}")
    assert base.ids("zebra") == []
    (base.root / "4.md").unlink()
    assert len(base.ids("zebra")) == 4


def test_a_block_of_few_among_many_ranks(make_base: MakeBase) -> None:
    others = {f"other-{n}.md": f"# Other {n}\n\nsomething {n}\n" for n in range(30)}
    assert len(make_base({**numbered(5), **others}).ids("zebra")) == 5


def test_spacing_does_not_hide_a_repeated_block(make_base: MakeBase) -> None:
    files = {f"{n}.md": f"# Note {n}\n\ntext {n}\n\nAll rights{' ' * n} reserved by\nthe zebra company.\n" for n in range(1, 8)}
    assert make_base(files).ids("zebra") == []


def test_documents_of_nothing_else_are_still_found(make_base: MakeBase) -> None:
    base = make_base({f"{n}.md": f"# Same\n\n{FOOTER}" for n in range(8)})
    assert len(base.ids("zebra")) == 8


def test_repeated_blocks_are_read_though_they_do_not_rank(make_base: MakeBase) -> None:
    base = make_base(numbered(8))
    assert "zebra" in base.kb.section("3").body
    assert base.ids("zebra") == []


def test_collections_do_not_make_each_others_noise(make_base: MakeBase) -> None:
    toml = '[[collections]]\nname = "one"\nroot = "docs/one"\n[[collections]]\nname = "two"\nroot = "docs/two"\n'
    files = {f"{'one' if n % 2 else 'two'}/{n}.md": f"# Note {n}\n\ntext {n}\n\n{FOOTER}" for n in range(8)}
    assert len(make_base(files, toml=toml).ids("zebra")) == 8


def test_a_file_that_failed_counts_alike_however_the_index_was_made(make_base: MakeBase) -> None:
    others = {f"other-{n:02}.md": f"# Other {n}\n\nsomething {n}\n" for n in range(20)}
    base = make_base({**numbered(5), **others})
    assert base.ids("zebra") == []  # 5 of 25 are a fifth
    base.write("broken.md", b"\x00\x01\x02\x03\x04\xff\xfe\x05" * 40)
    kept = base.ids("zebra")
    base.kb.index()
    fresh = base.rebuilt()
    assert kept == [r.id for r in fresh.search("zebra", limit=50).results]
