"""The tree joins headings and dotted ids, whatever file they stand in."""

from __future__ import annotations

from collections.abc import Callable

from bases import Base, temporary
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.answers import TreeNode

MakeBase = Callable[..., Base]


def outline(nodes: tuple[TreeNode, ...]) -> list[object]:
    return [[node.id, outline(node.children)] if node.children else node.id for node in nodes]


def test_dotted_ids_join_over_files(make_base: MakeBase) -> None:
    base = make_base(
        {"one.md": "# B.3 Trust\n\nx\n", "two.md": "# B.3.1 Gauge\n\nx\n", "three.md": "# B.10 Last\n\nx\n# B.2 Second\n\nx\n"}
    )
    assert outline(base.kb.tree()) == [["B", ["B.2", ["B.3", ["B.3.1"]], "B.10"]]]


def test_a_node_without_text_is_a_node(make_base: MakeBase) -> None:
    kb = make_base({"one.md": "# B.3.1 Gauge\n\nx\n"}).kb
    assert outline(kb.tree()) == [["B", [["B.3", ["B.3.1"]]]]]
    for id_ in ("B", "B.3"):
        found = kb.section(id_)
        assert (found.id, found.body, found.source, found.lines) == (id_, "", None, None)
    assert [node.id for node in kb.section("B.3").children] == ["B.3.1"]


def test_a_node_goes_when_nothing_lies_under_it(make_base: MakeBase) -> None:
    base = make_base({"one.md": "# B.3.1 Gauge\n\nx\n", "two.md": "# Two\n\nx\n"})
    base.kb.tree()
    (base.root / "one.md").unlink()
    assert outline(base.kb.tree()) == ["two"]


def test_headings_of_a_document_keep_its_order(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\n## Zebra\n\nx\n\n## Apple\n\nx\n\n### Inner\n\nx\n"})
    assert outline(base.kb.tree()) == [["a", ["a#zebra", ["a#apple", ["a#inner"]]]]]


def test_sort_order_comes_first(make_base: MakeBase) -> None:
    files = {f"{name}.md": f"---\nsort_order: {order}\n---\n# {name}\n\nx\n" for name, order in (("c", 1), ("a", 2))}
    base = make_base({**files, "b.md": "# b\n\nx\n", "b10.md": "# b10\n\nx\n", "b9.md": "# b9\n\nx\n"})
    assert outline(base.kb.tree()) == ["c", "a", "b", "b9", "b10"]


def test_depth_hides_what_lies_deeper_and_counts_it(make_base: MakeBase) -> None:
    kb = make_base({"a.md": "# B.3 Trust\n\n## B.3.1 One\n\nx\n\n## B.3.2 Two\n\nx\n"}).kb
    (top,) = kb.tree(depth=2)
    assert (top.id, top.children[0].id, top.children[0].children, top.children[0].more) == ("B", "B.3", (), 2)
    assert outline(kb.tree("B.3", depth=1)) == [["B.3", ["B.3.1", "B.3.2"]]]


def test_front_matter_names_a_parent(make_base: MakeBase) -> None:
    base = make_base({"a.md": "# A\n\nx\n", "b.md": "---\nparent: a\n---\n# B\n\nx\n"})
    assert outline(base.kb.tree()) == [["a", ["b"]]]


def test_a_parent_that_is_not_there_hides_nothing(make_base: MakeBase) -> None:
    base = make_base({"b.md": "---\nparent: nowhere\n---\n# B\n\nx\n"})
    assert "b" in str(outline(base.kb.tree()))


def test_a_circle_of_parents_hides_nothing_and_ends(make_base: MakeBase) -> None:
    base = make_base(
        {
            "a.md": "---\nparent: b\n---\n# A\n\nx\n",
            "b.md": "---\nparent: a\n---\n# B\n\nx\n",
            "c.md": "---\nparent: c\n---\n# C\n\nx\n",
        }
    )
    shown = set(_ids(base.kb.tree(depth=20)))
    assert {"a", "b", "c"} <= shown
    assert base.kb.section("a").path.count(">") <= 2


def _ids(nodes: tuple[TreeNode, ...]) -> list[str]:
    return [id_ for node in nodes for id_ in (node.id, *_ids(node.children))]


_HEADINGS = st.sampled_from(["A", "A.1 x", "A.1.2 y", "B.3 z", "B.3:1 q", "C.2.2a w", "Setup", "1.2 Zweck", "Ж.1 ж"])
_FILES = st.lists(st.lists(st.tuples(st.integers(1, 4), _HEADINGS), min_size=1, max_size=5), min_size=1, max_size=4)


@settings(max_examples=40)
@given(_FILES, st.lists(st.sampled_from(["", "s0", "s1", "A.1", "B.3", "nope"]), min_size=4, max_size=4))
def test_every_section_is_in_the_tree_once_under_its_parent(files: list[list[tuple[int, str]]], parents: list[str]) -> None:
    written = {
        f"s{n}.md": (f"---\nparent: {above}\n---\n" if above else "")
        + "".join(f"{'#' * level} {text}\n\nx\n\n" for level, text in headings)
        for n, (headings, above) in enumerate(zip(files, parents, strict=False))
    }
    with temporary(written) as base:
        kb = base.kb
        shown = _ids(kb.tree(depth=64))
        rows = {row.id for row in kb.list(max_results=100).rows}
        assert rows <= set(shown)
        assert len(shown) == len(set(shown))
        for id_ in shown:
            found = kb.section(id_)
            assert id_ not in [node.id for node in found.siblings]
            for child in found.children:
                assert kb.section(child.id).parent == id_
