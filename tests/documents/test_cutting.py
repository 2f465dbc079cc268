"""The rules made for cutting find the same top-level blocks as markdown-it's own."""

from __future__ import annotations

from itertools import zip_longest

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.rules_block import (
    StateBlock,
    blockquote,
    fence,
    heading,
    hr,
    html_block,
    list_block,
    table,
)
from markdown_it.token import Token

from kb.documents.cutting import cut

_LINES = st.tuples(
    st.sampled_from(["", "", "", " ", "  ", "    ", "\t", "- ", "> ", "1. ", "- - ", "> - "]),
    st.sampled_from(
        [
            "# a",
            "## b ##",
            "#",
            "#c",
            "text",
            "two words",
            "- i",
            "* i",
            "+ i",
            "1. i",
            "2) i",
            "> q",
            ">",
            "```",
            "~~~ x",
            "````",
            "***",
            "---",
            "_ _ _",
            "===",
            "=",
            "-",
            "<div>",
            "</div>",
            "<!-- c",
            "-->",
            "<b>",
            "<script>",
            "</script>",
            "| a | b |",
            "|---|---|",
            "a | b",
            "-|-",
            "|a|",
            "|-|",
            ":-",
            "",
            "",
            "\\# no",
            "[x]",
            "a\\|b | c",
            "{p}",
        ]
    ),
)

Cut = tuple[str, tuple[int, ...], str]


def _table_last(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """markdown-it lets a table header hide a list or quote; here, as on GitHub, containers come first."""
    outer = state.parentType
    state.parentType = "paragraph" if silent else "root"
    try:
        for rule in (fence, blockquote, hr, list_block, html_block, heading):
            if rule(state, line, end, True):
                return False
    finally:
        state.parentType = outer
    return table(state, line, end, silent)


def _stock() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 80}).enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    parser.block.ruler.disable("reference")
    parser.block.ruler.at("table", _table_last, {"alt": ["paragraph", "reference"]})
    return parser


def _expected(text: str) -> list[Cut]:
    tokens = _stock().parse(text + "\n")
    found = []
    for token, inner in zip_longest(tokens, tokens[1:]):
        if token.level == 0 and token.map and token.nesting >= 0:
            kind = token.type.removesuffix("_open") if token.tag in ("p", "table") else token.type
            is_heading = token.type == "heading_open"
            content = " ".join(inner.content.split()) if is_heading else ""
            found.append((token.tag if is_heading else kind, tuple(token.map), content))
        elif _is_item(token):
            found.append((token.type, tuple(token.map or ()), ""))
    return found


def _is_item(token: Token) -> bool:
    """Tell whether a token is an item of one of the document's own lists."""
    return token.level == 1 and token.type == "list_item_open"


def _found(text: str) -> list[Cut]:
    return [
        (token.tag, tuple(token.map), " ".join(token.content.split()))
        if token.type == "heading"
        else (token.type, tuple(token.map), "")
        for token in cut(text)
        if token.map and (token.level == 0 or _is_item(token))
    ]


@settings(deadline=None)
@given(st.lists(_LINES, max_size=9))
@example([("> - ", "<div>")])
@example([("- ", "text"), ("", ""), ("  ", "text"), ("- ", "text"), ("", "text"), ("1. ", "text")])
def test_blocks_and_headings_are_those_of_the_stock_rules(lines: list[tuple[str, str]]) -> None:
    text = "\n".join(indent + line for indent, line in lines)
    assert _found(text) == _expected(text)
