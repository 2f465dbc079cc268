"""The block rules that cut Markdown, for markdown-it-py.

Cutting needs the extent of each top-level block and nothing of what is inside it. These rules keep markdown-it's own
containers, fences, HTML blocks and rules, and replace the three that cost most: every block is chosen by its first
character, a paragraph (with setext heading and table) is scanned once, and nothing is said about cells or nested
paragraphs. A list of the document itself is cut by indentation where that is enough, without reading what its items
hold. `tests/documents/test_cutting.py` holds all of this against the stock rules.

Tokens of level 0: `heading` (tag h1-h6, content the raw text), `paragraph`, `table`, and markdown-it's `fence`,
`code_block`, `html_block`, `hr`, `blockquote_open`, `bullet_list_open`, `ordered_list_open` (with `list_item_open` at
level 1). Their `map` is 0-based and half open.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.ruler import Ruler
from markdown_it.rules_block import StateBlock, blockquote, code, fence, heading, hr, html_block, list_block
from markdown_it.token import Token

Rule = Callable[[StateBlock, int, int, bool], bool]

# Quotes and lists in one another; what is nested deeper is plain text. Each level costs several Python frames.
_DEEPEST = 40
_DIGITS = "0123456789"
_MARKER = re.compile(r"(?:([-+*])|[0-9]{1,9}([.)]))( *)")
_DEFINITION = re.compile(
    r"\[(?:[^\[\]\\]|\\.){1,999}\]:[ \t]*(?:<[^<>]*>|[^\s<]\S*)(?:[ \t]+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?[ \t]*$"
)


def _rule(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    # Most lines that open with - or * are list items, which the last character tells at once.
    return state.src[state.eMarks[line] - 1] in "*-_ \t" and hr(state, line, end, silent)


_INTERRUPTS: dict[str, tuple[Rule, ...]] = {
    "#": (heading,),
    "`": (fence,),
    "~": (fence,),
    ">": (blockquote,),
    "<": (html_block,),
    "_": (_rule,),
    "*": (_rule, list_block),
    "-": (_rule, list_block),
    "+": (list_block,),
    **dict.fromkeys(_DIGITS, (list_block,)),
}
_ENDS_LIST: dict[str, tuple[Rule, ...]] = {
    "`": (fence,),
    "~": (fence,),
    ">": (blockquote,),
    "_": (_rule,),
    "*": (_rule,),
    "-": (_rule,),
}
_LISTED = "-+*" + _DIGITS
_CONTAINERS = (blockquote, list_block)


def cut(body: str) -> list[Token]:
    """The top-level blocks of Markdown text whose lines end in `\\n`."""
    tokens: list[Token] = []
    parser = _parser()
    # Without a final line end markdown-it looks one character too far.
    parser.block.parse(body + "\n", parser, {}, tokens)
    return tokens


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 2 * _DEEPEST})
    rules: Ruler[Rule] = Ruler()
    rules.push("block", _block)
    # Never reached as a rule of its own; the parser looks for the name to know that indented code exists.
    rules.push("code", code)
    rules.push("ends_list", _chain(_ENDS_LIST), {"alt": ["list"]})
    rules.push("interrupts", _chain(_INTERRUPTS), {"alt": ["blockquote", "paragraph"]})
    parser.block.ruler = rules
    return parser


def _chain(by_character: dict[str, tuple[Rule, ...]]) -> Rule:
    def ends(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        start = state.bMarks[line] + state.tShift[line]
        return any(rule(state, line, end, True) for rule in by_character.get(state.src[start : start + 1], ()))

    return ends


def _block(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    if state.sCount[line] - state.blkIndent >= 4:
        return code(state, line, end, False)
    first = state.src[state.bMarks[line] + state.tShift[line]]
    if first == "#":
        if _atx(state, line):
            return True
    else:
        if state.level == 0 and first in _LISTED and _list(state, line, end):
            return True
        for rule in _INTERRUPTS.get(first, ()):
            if state.level >= _DEEPEST and rule in _CONTAINERS:
                continue
            if rule(state, line, end, False):
                return True
    return _paragraph(state, line, end)


def _emit(state: StateBlock, kind: str, tag: str, first: int, after: int, content: str = "") -> None:
    state.line = after
    if state.level == 0:
        token = Token(kind, tag, 0)
        token.map = [first, after]
        token.content = content
        state.tokens.append(token)


def _atx(state: StateBlock, line: int) -> bool:
    text = state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
    rest = text.lstrip("#")
    level = len(text) - len(rest)
    if level > 6 or (rest and rest[0] not in " \t"):
        return False
    rest = rest.rstrip(" \t")
    opened = rest.rstrip("#")
    if not opened or opened[-1] in " \t":
        rest = opened
    _emit(state, "heading", f"h{level}", line, line + 1, rest.strip(" \t"))
    return True


def _paragraph(state: StateBlock, start: int, end: int) -> bool:
    """A paragraph, or the setext heading or table it turns out to be."""
    if _is_table(state, start, end):
        return _table(state, start, end)
    source, marks, shifts, ends, counts = state.src, state.bMarks, state.tShift, state.eMarks, state.sCount
    indent = state.blkIndent
    outer = state.parentType
    # The list rule asks this to know whether it may interrupt.
    state.parentType = "paragraph"
    line = start + 1
    while line < state.lineMax:
        position = marks[line] + shifts[line]
        if position >= ends[line]:
            break
        if counts[line] - indent > 3:
            line += 1
            continue
        first = source[position]
        if first in "-=" and counts[line] >= indent and line < end:
            underline = source[position : ends[line]].rstrip(" \t")
            if not underline.strip(first):
                state.parentType = outer
                return _setext(state, start, line, 1 if first == "=" else 2)
        if counts[line] >= 0:
            rules = _INTERRUPTS.get(first)
            if rules and any(rule(state, line, end, True) for rule in rules):
                break
            if _is_table(state, line, end):
                break
        line += 1
    state.parentType = outer
    _emit(state, "paragraph", "p", start, line)
    return True


def _list(state: StateBlock, start: int, end: int) -> bool:
    """A list that can be cut by the indentation of its lines alone; False where it is none, or has to be looked into.

    An item reaches to the next line that stands further left than its text. Only where that line follows upon text, and
    opens no item, may it still belong to a paragraph inside. Tabs after a marker and empty items are left to `list_block`.
    """
    source, marks, shifts, ends, counts = state.src, state.bMarks, state.tShift, state.eMarks, state.sCount
    opened = _marker(state, start)
    if opened is None or not opened[0] or (source[marks[start] + shifts[start]] in "-*" and _rule(state, start, end, True)):
        return False
    kind, width = opened
    items: list[tuple[int, int]] = []
    line = start
    while True:
        first, indent, blank = line, counts[line] + width, False
        line += 1
        while line < end:
            if marks[line] + shifts[line] >= ends[line]:
                blank = True
            elif counts[line] >= indent:
                blank = False
            else:
                break
            line += 1
        items.append((first, line))
        if line >= end:
            break
        if counts[line] > 3:
            return False
        if source[marks[line] + shifts[line]] in "-*_" and _rule(state, line, end, True):
            break
        opened = _marker(state, line)
        if opened is None or not (opened[0] or blank):
            return False
        if opened[0] != kind:
            break
        width = opened[1]
    name, tag = ("bullet", "ul") if kind in "-+*" else ("ordered", "ol")
    state.push(f"{name}_list_open", tag, 1).map = [start, line]
    for item in items:
        state.push("list_item_open", "li", 1).map = [*item]
        state.level -= 1
    state.push(f"{name}_list_close", tag, -1)
    state.line = line
    return True


def _marker(state: StateBlock, line: int) -> tuple[str, int] | None:
    """The sign of a list item that opens in a line, and how far behind its marker's begin its text stands.

    An empty sign where no item opens; None where it takes the whole rule to tell.
    """
    begin = state.bMarks[line] + state.tShift[line]
    found = _MARKER.match(state.src, begin, state.eMarks[line])
    if found is None:
        return "", 0
    after = found.end()
    if after == state.eMarks[line] or state.src[after] == "\t":
        return None
    spaces = len(found[3])
    if not spaces:
        return "", 0
    return found[1] or found[2], after - begin - (0 if spaces <= 4 else spaces - 1)


def _setext(state: StateBlock, start: int, underline: int, level: int) -> bool:
    texts = [_text(state, line) for line in range(start, underline)]
    defined = 0
    # Link definitions are not text that a line below could underline.
    while defined < len(texts) and texts[defined].startswith("[") and _DEFINITION.match(texts[defined]):
        defined += 1
    if defined:
        _emit(state, "paragraph", "p", start, start + defined)
    if defined < len(texts):
        _emit(state, "heading", f"h{level}", start + defined, underline + 1, "\n".join(texts[defined:]))
    return True


def _text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip(" \t")


def _is_table(state: StateBlock, line: int, end: int) -> bool:
    """Whether a header row stands in `line` and its delimiter row below it."""
    below = line + 1
    if below >= end:
        return False
    position = state.bMarks[below] + state.tShift[below]
    if position >= state.eMarks[below] or state.src[position] not in "|-:":
        return False
    if not 0 <= state.sCount[below] - state.blkIndent < 4 or state.sCount[line] - state.blkIndent >= 4:
        return False
    header = _text(state, line)
    if "|" not in header:
        return False
    rule = _text(state, below)
    if rule.strip("|-: \t") or len(rule) < 2 or (rule[0] == "-" and rule[1] in " \t"):
        return False
    cells = rule.removeprefix("|").removesuffix("|").split("|")
    for cell in cells:
        dashes = cell.strip(" \t").removeprefix(":").removesuffix(":")
        if not dashes or dashes.strip("-"):
            return False
    pipes = header.count("|") - header.count("\\|")
    columns = pipes + 1 - header.startswith("|") - (len(header) > 1 and header.endswith("|") and header[-2] != "\\")
    return columns == len(cells)


def _table(state: StateBlock, start: int, end: int) -> bool:
    outer = state.parentType
    state.parentType = "table"
    line = start + 2
    while line < end:
        position = state.bMarks[line] + state.tShift[line]
        if position >= state.eMarks[line] or not 0 <= state.sCount[line] - state.blkIndent < 4:
            break
        rules = _INTERRUPTS.get(state.src[position])
        if rules and any(rule(state, line, end, True) for rule in rules):
            break
        line += 1
    state.parentType = outer
    _emit(state, "table", "table", start, line)
    return True
