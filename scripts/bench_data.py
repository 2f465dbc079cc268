"""Passages for the benchmark, made from real text by a seeded choice, and queries over them.

A passage is two runs of neighbouring words from the text of one language, about a hundred tokens in all; each language gives as
many passages. Tokens are the terms
that kb's analyzer gives, and every engine gets the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kb.analysis import words
from kb.analysis.analyzer import Analyzer
from kb.analysis.languages import detect

SEED = 20261130
LENGTH = (60, 140)
"""Tokens of a passage: from, up to."""
BATCH = 40_000
LEAST_SHARE = 0.02
"""A language with less text than this share of the longest is left out: the odd file whose language was misread."""
_HEADING = re.compile(r"^#+ ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Source:
    """Real text: for each language its words as written (positions in `spelt`) and the first term of each."""

    spelt: list[str]
    vocabulary: list[str]
    term_of: NDArray[np.int32]  # for each spelling
    streams: dict[str, NDArray[np.int32]]  # for each language, spellings in order


def read(folder: Path) -> Source:
    """Read every Markdown and text file below a folder."""
    analyzer = Analyzer()
    spelt: dict[tuple[str, str], int] = {}
    streams: dict[str, list[int]] = {}
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".md", ".txt") and path.is_file()):
        text = path.read_text(encoding="utf-8", errors="replace")
        language = detect(text)
        stream = streams.setdefault(language, [])
        stream.extend(spelt.setdefault((word, language), len(spelt)) for word in words.find(text))
    terms: dict[str, int] = {}
    term_of = np.empty(len(spelt), dtype=np.int32)
    for (word, language), number in spelt.items():
        found = analyzer.terms(word, language)
        term_of[number] = terms.setdefault(found[0] if found else word, len(terms))
    longest = max(map(len, streams.values()), default=0)
    kept = {
        language: np.array(stream, dtype=np.int32)
        for language, stream in streams.items()
        if len(stream) > max(2 * LENGTH[1], LEAST_SHARE * longest)
    }
    return Source([word for word, _ in spelt], list(terms), term_of, kept)


@dataclass(frozen=True, slots=True)
class Passages:
    """Some passages: spellings one passage after the other, and the number of each."""

    spellings: NDArray[np.int32]
    lengths: NDArray[np.int32]


def passages(source: Source, count: int, seed: int = SEED) -> Iterator[Passages]:
    """Yield `count` passages in batches; the same seed gives the same passages."""
    chance = np.random.default_rng(seed)
    languages = sorted(source.streams)
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        half = chance.integers(LENGTH[0] // 2, LENGTH[1] // 2, size=2 * size)
        stream_of = np.repeat(chance.integers(0, len(languages), size=size), 2)
        pieces = np.empty(int(half.sum()), dtype=np.int32)
        ends = np.cumsum(half)
        within = np.arange(len(pieces)) - np.repeat(ends - half, half)
        for number, language in enumerate(languages):
            stream = source.streams[language]
            mine = stream_of == number
            first = chance.integers(0, len(stream) - LENGTH[1], size=2 * size)
            tokens = np.repeat(mine, half)
            pieces[tokens] = stream[np.repeat(first, half)[tokens] + within[tokens]]
        yield Passages(pieces, half.reshape(-1, 2).sum(axis=1).astype(np.int32))


def queries(
    source: Source, frequency: NDArray[np.int64], units: int, count: int, seed: int = SEED + 1
) -> dict[str, list[list[int]]]:
    """Return keyword queries (2 to 4 words in under a hundredth of the passages) and sentences (8 to 14 words as they stand)."""
    chance = np.random.default_rng(seed)
    languages = sorted(source.streams)
    out: dict[str, list[list[int]]] = {"keywords": [], "sentences": []}
    tries = 0
    while min(map(len, out.values())) < count:
        tries += 1
        stream = source.streams[languages[int(chance.integers(0, len(languages)))]]
        start = int(chance.integers(0, len(stream) - 200))
        if len(out["sentences"]) < count:
            sentence = source.term_of[stream[start : start + int(chance.integers(8, 15))]]
            out["sentences"].append([*dict.fromkeys(sentence.tolist())])
        near = np.unique(source.term_of[stream[start : start + 120]])
        # In a small or poor text few words are that rare: then any do.
        rare = near[(frequency[near] > 0) & (frequency[near] < (units / 100 if tries < 20 * count else units))]
        if len(rare) >= 4 and len(out["keywords"]) < count:
            out["keywords"].append(chance.choice(rare, size=int(chance.integers(2, 5)), replace=False).tolist())
    return out


def prepare(folder: Path, size: int, count: int, target: Path) -> None:
    """Write tokens, vocabulary and queries for one size into a folder, for the programs that build."""
    source = read(folder)
    target.mkdir(parents=True, exist_ok=True)
    lengths: list[NDArray[np.int32]] = []
    frequency = np.zeros(len(source.vocabulary), dtype=np.int64)
    with (target / "terms.i32").open("wb") as file:
        for batch in passages(source, size):
            terms = source.term_of[batch.spellings]
            file.write(terms.tobytes())
            lengths.append(batch.lengths)
            unit = np.repeat(np.arange(len(batch.lengths)), batch.lengths)
            pairs = terms.astype(np.int64) * len(batch.lengths) + unit
            pairs.sort()
            distinct = pairs[np.concatenate(([True], pairs[1:] != pairs[:-1]))]
            frequency += np.bincount(distinct // len(batch.lengths), minlength=len(frequency))
    (target / "lengths.i32").write_bytes(np.concatenate(lengths).tobytes())
    (target / "vocabulary.json").write_text(json.dumps(source.vocabulary, ensure_ascii=False), encoding="utf-8")
    asked = queries(source, frequency, size, count)
    spelt = _spelt(source)
    texts = {kind: [" ".join(spelt[term] for term in query) for query in found] for kind, found in asked.items()}
    (target / "texts.json").write_text(json.dumps(texts, ensure_ascii=False), encoding="utf-8")
    (target / "queries.json").write_text(json.dumps(asked), encoding="utf-8")


def _spelt(source: Source) -> list[str]:
    """Return for each term the spelling that most often stands for it: what a user would type."""
    counts = np.zeros(len(source.spelt), dtype=np.int64)
    for stream in source.streams.values():
        counts += np.bincount(stream, minlength=len(counts))
    out = [""] * len(source.vocabulary)
    for number in np.argsort(counts, kind="stable").tolist():
        out[int(source.term_of[number])] = source.spelt[number]
    return out


def write_folder(
    source: Source, sections: int, target: Path, a_file: int = 100, seed: int = SEED + 2, passages_each: int = 1
) -> int:
    """Write Markdown files of `a_file` sections each; return their size in bytes."""
    written = 0
    lines: list[str] = []
    numbered = 0
    target.mkdir(parents=True, exist_ok=True)
    pending: list[str] = []
    for batch in passages(source, sections * passages_each, seed):
        ends = np.cumsum(batch.lengths)
        for start, end in zip(ends - batch.lengths, ends, strict=True):
            found = [source.spelt[i] for i in batch.spellings[start:end].tolist()]
            pending.append(" ".join(found))
            if len(pending) < passages_each:
                continue
            title = " ".join(found[5:9])
            lines.append(f"## {title}\n\n" + "\n\n".join(pending) + "\n")
            pending.clear()
            numbered += 1
            if numbered % a_file == 0 or numbered == sections:
                path = target / f"{(numbered - 1) // a_file:05}.md"
                data = "\n".join(lines).encode()
                path.write_bytes(data)
                written += len(data)
                lines.clear()
    return written
