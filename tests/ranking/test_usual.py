"""The sample that says what is usual among cosines."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from bases import Base
from models import Model

from kb.index import embed
from kb.ranking import usual

MakeBase = Callable[..., Base]
WORDS = "boundary holon trust calculus evidence role context system".split()


def drawn(base: Base, kb: object) -> dict[str, set[str]]:
    """The ids of the sample, by language."""
    catalog = base.kb._catalog() if kb is None else kb._catalog()  # type: ignore[attr-defined]
    with catalog.reading():
        snapshot = (kb or base.kb)._state(catalog)  # type: ignore[attr-defined]
        view = embed.view(catalog, Model.id, Model.dimension, base.kb._read_raw())
        out: dict[str, set[str]] = {}
        for segment, found in zip(snapshot.segments, usual.sample(catalog, snapshot, view), strict=True):
            for language, hits in found.items():
                for section in segment.hit_section[hits].tolist():
                    row = catalog.db.execute("SELECT id FROM sections WHERE section = ?", (section,)).fetchone()
                    out.setdefault(language, set()).add(row[0])
        return out


@pytest.fixture
def base(make_base: MakeBase) -> Base:
    random_ = random.Random(3)
    files = {f"a{n}.md": f"# A{n}\n\n{' '.join(random_.choices(WORDS, k=30))} number{n}\n" for n in range(40)}
    return make_base(files | {"de.md": "---\nlang: de\n---\n\n# Grenze\n\nDie Grenze gehört zum Haus.\n"})


def test_of_few_hits_all_are_drawn(base: Base) -> None:
    base.search("boundary")
    found = drawn(base, None)
    assert (len(found["en"]), len(found["de"])) == (40, 1)


def test_the_sample_depends_on_the_texts_alone(base: Base, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usual, "SAMPLE", 10)
    base.search("boundary")
    for number in (3, 17, 30):
        base.write(f"a{number}.md", f"# B{number}\n\nzebra number{number}\n")
        base.search("zebra")
    (base.root / "a5.md").unlink()
    base.search("zebra")
    found = drawn(base, None)
    assert (len(found["en"]), len(found["de"])) == (10, 1)
    rebuilt = base.rebuilt()
    rebuilt.search("zebra")
    assert drawn(base, rebuilt) == found
