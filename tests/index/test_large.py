"""A base of a hundred thousand sections: what indexing it takes, and that its progress is seen."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from kb.base import KnowledgeBase

SECTIONS = 100_000
A_FILE = 100
WORDS = 220  # a section: about 2,000 bytes
VOCABULARY = 300_000
LEAST_BYTES = 200 << 20
MOST_MEGABYTES = 1_000
"""What the README states for a base of this size: no process that indexes it takes more."""

MEASURE = """
import json, resource, subprocess, sys
ended = subprocess.run([sys.executable, "-m", "kb", "index", "--base", sys.argv[1], "--json"], stdout=subprocess.DEVNULL)
print(json.dumps([ended.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024]))
"""


def spellings(rng: np.random.Generator) -> list[str]:
    """Distinct words, half of them Cyrillic, of three to five syllables; the earlier ones are shorter."""
    out: dict[str, None] = {}
    alphabets = ("bdfgklmnprst", "aeiou"), ("бвгдклмнпрст", "аеиоу")
    while len(out) < VOCABULARY:
        consonants, vowels = alphabets[len(out) % 2]
        syllables = 3 + len(out) * 3 // VOCABULARY
        picked = rng.integers(0, 60, syllables).tolist()
        out["".join(consonants[at // 5] + vowels[at % 5] for at in picked) + "s" * (len(out) % 3 == 0)] = None
    return list(out)


def write(folder: Path) -> int:
    """Write files of sections whose words are as unevenly frequent as those of a language; return their bytes."""
    rng = np.random.default_rng(11)
    vocabulary = spellings(rng)
    often = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    size = 0
    for number in range(SECTIONS // A_FILE):
        drawn = np.searchsorted(often, rng.random(A_FILE * WORDS) * often[-1]).tolist()
        text = [vocabulary[at] for at in drawn]
        parts = [
            f"## {text[at].title()} {text[at + 1]}\n\nmark{number * A_FILE + at // WORDS} {' '.join(text[at : at + WORDS])}\n"
            for at in range(0, len(text), WORDS)
        ]
        size += (folder / f"{number:04}.md").write_bytes("\n".join(parts).encode())
    return size


@pytest.mark.slow
def test_a_hundred_thousand_sections_are_indexed_within_the_stated_memory_and_with_progress(tmp_path: Path) -> None:
    folder = tmp_path / "base"
    folder.mkdir()
    assert write(folder) >= LEAST_BYTES
    terminal, end = pty.openpty()
    seen = bytearray()

    def listen() -> None:
        try:
            while found := os.read(terminal, 65536):
                seen.extend(found)
        except OSError:  # what a terminal says once its other end is closed
            pass

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        measured = subprocess.run(
            [sys.executable, "-c", MEASURE, str(folder)],
            env={**os.environ, "KB_CACHE": str(tmp_path / "cache")},
            stdout=subprocess.PIPE,
            stderr=end,
            check=True,
        )
    finally:
        os.close(end)
        listener.join()
        os.close(terminal)
    code, megabytes = json.loads(measured.stdout)
    assert code == 0
    assert megabytes <= MOST_MEGABYTES
    shown = [int(done) for done in re.findall(rb"indexing (\d+)/1000 files", bytes(seen))]
    assert len(set(shown)) >= 10 and shown == sorted(shown)
    with KnowledgeBase(folder, cache=tmp_path / "cache") as kb:
        assert sum(one.sections for one in kb.status().collections) == SECTIONS
        for number in (0, 54_321, SECTIONS - 1):
            found = kb.search(f"mark{number}", limit=1).results
            assert [result.source for result in found] == [f"{number // A_FILE:04}.md"]
