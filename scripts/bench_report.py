"""The results of `scripts/bench` as Markdown tables and an SVG chart."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

KINDS = ("keywords", "sentences")
COLOURS = {"kb": "#0b7285", "tantivy": "#e8590c", "bm25s-numba": "#5f3dc4", "bm25s-numpy": "#9775fa", "SQLite FTS5": "#868e96",
           "rank_bm25": "#c2255c"}  # fmt: skip
_WIDTH, _ROW, _LEFT, _TOP = 860, 15, 190, 46


def write(results: dict[str, Any], folder: Path) -> None:
    """Write bench.json, bench.md and, where engines were compared, bench.svg."""
    folder.mkdir(exist_ok=True)
    (folder / "bench.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / "bench.md").write_text(tables(results), encoding="utf-8")
    if "lexical" in results:
        (folder / "bench.svg").write_text(chart(results), encoding="utf-8")


def tables(results: dict[str, Any]) -> str:
    """Return all tables."""
    made = results["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    out = [
        f"Measured {made['date']} on {made['cores']} cores of {made['cpu']}, {made['system']}, Python {made['python']},"
        f" {versions};"
        f" {made['load']:.1f} other processes were running. CPU milliseconds, top 10; engines took turns"
        " with all queries of a kind;"
        " a query's median of three times counts, beside it stands what the first took.\n"
    ]
    for part in ("lexical", "search", "index", "start", "floor"):
        if part in results:
            out.extend(globals()[f"_{part}"](results))
    return "\n".join(out) + "\n"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] * len(head)) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), ""])


def _lexical(results: dict[str, Any]) -> Iterator[str]:
    for one in results["lexical"].values():
        ours = one["engines"]["kb"]
        rows = []
        for engine, found in one["engines"].items():
            row = [engine]
            for kind in KINDS:
                value = found[kind]
                row += [
                    f"{value['p50']:.3g} ({_ratio(value['p50'], ours[kind]['p50'])})",
                    f"{value['first']:.3g} ({_ratio(value['first'], ours[kind]['first'])})",
                    f"{value['p99']:.3g}",
                    f"{value['qps']:,.0f}",
                ]
            row += [
                f"{found['wall']:.3g} / {found['cpu']:.3g}",
                f"{found['peak']:,.0f}",
                f"{found['disk']:,.0f}",
                f"{found['load']:.3g}",
            ]
            rows.append(row)
        head = ["engine"]
        for kind in KINDS:
            head += [f"{kind}: p50 ms (times kb)", "asked first", "p99 ms", "a second"]
        head += ["build s (wall / CPU)", "build peak MB", "disk MB", "load s"]
        yield f"**{one['passages']:,} passages, {one['tokens'] / 1e6:,.1f} million tokens**\n"
        yield _table(head, rows)
        yield f"Scores of kb and bm25s differ by at most {ours['agree']:.1e}.\n"


def _search(results: dict[str, Any]) -> Iterator[str]:
    found = results["search"]
    for files, kinds in found["files"].items():
        rows = []
        for kind, measured in kinds.items():
            bare = next(iter(measured.values()))
            for name, value in measured.items():
                row = [kind, name, f"{value['p50']:.3g}", f"{value['first']:.3g}", f"{value['p99']:.3g}"]
                before = kinds[kind.removesuffix(" after edits")].get(name)
                row.append(_ratio(value["p50"], bare["p50"]))
                rows.append([*row, _ratio(value["p50"], before["p50"]) if kind.endswith("edits") and before else ""])
        yield f"**KnowledgeBase.search, {found['sections']:,} sections in {files} files: freshness, grouping, snippets**\n"
        yield _table(["queries", "what", "p50 ms", "asked first", "p99 ms", "times plain BM25", "times before the edits"], rows)
    edits = found["edits"]
    yield (
        f"{edits['count']:,.0f} edits, each indexed at once: p50 {edits['p50']:.1f} ms, p99 {edits['p99']:.0f} ms;"
        f" {edits['segments']:.0f} segments after them.\n"
    )


def _index(results: dict[str, Any]) -> Iterator[str]:
    found = results["index"]
    ours, plain, large = found["kb"], found["plain"], found["large"]
    yield "**`kb index` of a folder**\n"
    rows = [
        _used(f"kb index, {found['MB']:.0f} MB", ours),
        _used(f"a loop that only tokenises and stems, {found['MB']:.0f} MB", plain),
        _used(f"kb index, {large['sections']:,} sections, {large['MB']:.0f} MB", large),
    ]
    yield _table(["what", "wall s", "CPU s", "peak MB (of a worker)"], rows)


def _used(what: str, one: dict[str, float]) -> list[str]:
    return [what, f"{one['wall']:.1f}", f"{one['cpu']:.1f}", f"{one['peak']:.0f} ({one['worker peak']:.0f})"]


def _start(results: dict[str, Any]) -> Iterator[str]:
    found = results["start"]
    yield "**From the start of the command**\n"
    base = found["runs"]["python -c 'import numpy'"]["p50"]
    rows = [
        [f"`{name}`" if "python" in name else name, f"{one['p50']:.0f}", _ratio(one["p50"], base)]
        for name, one in found["runs"].items()
    ]
    yield _table(["what", "CPU ms", "times import numpy"], rows)
    if "open" in found:
        one = found["open"]
        yield (
            f"Opening {one['passages']:,} passages and answering the first query: {one['open']:.0f} ms of CPU"
            f" (import numpy: {one['numpy']:.0f} ms), {one['private']:.0f} MB of private memory in all.\n"
        )


def _floor(results: dict[str, Any]) -> Iterator[str]:
    found = results["floor"]
    yield (
        f"**Distance to the floor, {found['size']} passages** (memory read at {found['bandwidth']:.1f} GB/s; the floor is all"
        " postings of a query's terms and a score for each passage, read once; kb leaves postings unread that can't matter)\n"
    )
    rows = []
    for kind in KINDS:
        mean = results.get("lexical", {}).get(found["size"], {}).get("engines", {}).get("kb", {}).get(kind, {}).get("mean")
        one = found[kind]
        rows.append(
            [
                kind,
                f"{one['bytes'] / 1e6:.2f}",
                f"{one['ms']:.3g}",
                f"{mean:.3g}" if mean else "",
                _ratio(mean, one["ms"]) if mean else "",
            ]
        )
    yield _table(["queries", "MB touched", "floor ms", "kb mean ms", "times the floor"], rows)


def _ratio(value: float, base: float) -> str:
    ratio = value / base
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.0f}x"


def chart(results: dict[str, Any]) -> str:
    """Return a chart of the middle time and quartiles of each engine, on a logarithmic scale."""
    bars = [
        (name, kind, engine, found[kind])
        for name, one in results["lexical"].items()
        for kind in KINDS
        for engine, found in one["engines"].items()
    ]
    low = min(value["low"] for *_, value in bars)
    high = max(value["high"] for *_, value in bars)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    groups = list(dict.fromkeys((name, kind) for name, kind, *_ in bars))
    height = _TOP + len(bars) * _ROW + len(groups) * 26 + 20

    def x(value: float) -> float:
        return _LEFT + (math.log10(value) - first) / (last - first) * (_WIDTH - _LEFT - 90)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        '<text x="12" y="20" font-size="14" font-weight="bold" fill="#212529">'
        "Milliseconds for the top 10 (bar: median; line: quartiles)</text>",
    ]
    for power in range(first, last + 1):
        at = x(10.0**power)
        out.append(f'<line x1="{at:.1f}" y1="{_TOP - 8}" x2="{at:.1f}" y2="{height - 12}" stroke="#dee2e6"/>')
        out.append(f'<text x="{at:.1f}" y="{_TOP - 12}" text-anchor="middle" fill="#495057">{10.0**power:g}</text>')
    y = _TOP
    for group in groups:
        y += 18
        out.append(f'<text x="12" y="{y}" font-weight="bold" fill="#212529">{group[0]} passages, {group[1]}</text>')
        y += 8
        for name, kind, engine, value in bars:
            if (name, kind) != group:
                continue
            colour = COLOURS.get(engine, "#495057")
            middle = y + _ROW / 2
            out.append(f'<text x="{_LEFT - 8}" y="{middle + 4:.1f}" text-anchor="end" fill="#212529">{escape(engine)}</text>')
            width = max(x(value["p50"]) - _LEFT, 1)
            out.append(f'<rect x="{_LEFT}" y="{y + 2}" width="{width:.1f}" height="{_ROW - 4}" rx="2" fill="{colour}"/>')
            spread = f'x1="{x(value["low"]):.1f}" x2="{x(value["high"]):.1f}" y1="{middle:.1f}" y2="{middle:.1f}"'
            out.append(f'<line {spread} stroke="#212529" stroke-width="1.5"/>')
            at = f'x="{max(x(value["high"]), _LEFT + width) + 6:.1f}" y="{middle + 4:.1f}"'
            out.append(f'<text {at} fill="#495057">{value["p50"]:.3g}</text>')
            y += _ROW
    out.append("</svg>\n")
    return "\n".join(out)
