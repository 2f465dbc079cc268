"""The question sets as one base of four collections that can be edited, and a seeded draw of questions to it."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
SETS = {"fpf": "fpf", "ru": "xquad/ru", "de": "xquad/de", "en": "xquad/en"}
"""Collection -> its folder in the shared data."""
SEED = 20261130
FPF, XQUAD = 150, 50
"""Questions to the FPF, and to XQuAD in each of three languages."""


def base(place: Path) -> Path:
    """Copy the documents below a folder and return the kb.toml over them."""
    for name, folder in SETS.items():
        shutil.copytree(SHARED / folder / "docs", place / name)
    for path in place.rglob("*"):  # the originals may not be writable
        path.chmod(0o755 if path.is_dir() else 0o644)
    lines = [f'[[collections]]\nname = "{name}"\nroot = "{name}"\n' for name in SETS]
    (place / "kb.toml").write_text("\n".join(lines), encoding="utf-8")
    return place / "kb.toml"


def questions() -> list[str]:
    """Return 300 questions. The FPF set has fewer than 150: headings of its files, as somebody would look for them, make up."""
    random_ = random.Random(SEED)
    out = []
    for name, folder in SETS.items():
        lines = (SHARED / folder / "gold-dev.jsonl").read_text(encoding="utf-8").splitlines()
        asked = [json.loads(line)["query"] for line in lines]
        wanted = FPF if name == "fpf" else XQUAD
        out += random_.sample(asked, min(wanted, len(asked)))
        if len(asked) < wanted:
            out += random_.sample(_headings(SHARED / folder / "docs"), wanted - len(asked))
    return out


class Editor:
    """Edits the documents of a base: half are changed, a quarter come, a quarter go."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._random = random.Random(SEED + 1)
        self._files = sorted(path for name in SETS for path in (place / name).rglob("*.md"))
        self._count = 0

    def edit(self) -> None:
        """Make one edit."""
        random_, self._count = self._random, self._count + 1
        kind = random_.random()
        if kind < 0.5:
            path = random_.choice(self._files)
            blocks = path.read_text(encoding="utf-8").split("\n\n")
            at = random_.randrange(len(blocks))
            blocks[at : at + 1] = random_.choice([[], [blocks[at], self._block()], [self._block()]])
            path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
        elif kind < 0.75:
            path = self._place / random_.choice(list(SETS)) / f"new-{self._count}.md"
            blocks = [self._block() for _ in range(random_.randint(1, 6))]
            path.write_text(f"# New {self._count}\n\n" + "\n\n".join(blocks) + "\n", encoding="utf-8")
            self._files.append(path)
        else:
            self._files.pop(random_.randrange(len(self._files))).unlink()

    def _block(self) -> str:
        """Return a block of some document."""
        blocks = [block for block in self._random.choice(self._files).read_text(encoding="utf-8").split("\n\n") if block.strip()]
        return self._random.choice(blocks) if blocks else "nothing"


def _headings(docs: Path) -> list[str]:
    found = (line for path in sorted(docs.rglob("*.md")) for line in path.read_text(encoding="utf-8").splitlines())
    return sorted({line.lstrip("#").strip() for line in found if line.startswith("#") and line.count(" ") > 2})
