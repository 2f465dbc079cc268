"""The best hits, found without scoring all, are those of scoring all, to the last bit."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from bases import Base
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kb.index.snapshot import Snapshot
from kb.ranking import best, every, joined
from kb.ranking.alternatives import Alternatives, Form
from kb.ranking.plan import Plan
from kb.ranking.query import parse
from kb.ranking.ranker import Ranking, Weights, rank

MakeBase = Callable[..., Base]
NAMES = [f"w{n}" for n in range(40)]


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    """Four segments with hits of no, one and several passages, variants in three languages, and much that is dead."""
    chance = random.Random(3)

    def text(number: int) -> str:
        parts = [f"# {' '.join(chance.choices(NAMES, k=3))}\n"] + [
            f"\n{' '.join(chance.choices(NAMES, weights=range(40, 0, -1), k=chance.choice((5, 60, 300))))}\n"
            for _ in range(chance.choice((0, 1, 1, 3)))
        ]
        return f"---\nid: N.{number}\naliases: [{chance.choice(NAMES)} {chance.choice(NAMES)}]\n---\n" + "".join(parts)

    files = {f"{folder}{n:02}.md": text(n) for n in range(40) for folder in ("", "de/", "ru/")[: 1 + n % 3]}
    base = Base(tmp_path_factory.mktemp("best") / "base", files)
    base.kb.index()
    for first in range(3):
        for n in range(first, 40, 6):
            base.write(f"{n:02}.md", text(n))
        base.write(f"{first}.txt", "half w1 w2")
        base.kb.index()
    catalog = base.kb._catalog()
    with catalog.reading():
        yield base.kb._state(catalog)
    base.close()


def plan_of(chance: random.Random, kind: str) -> Plan:
    names = chance.sample(NAMES, chance.randint(1, 12))
    weighed = [(name, chance.choice((1.0, 1.0, 0.3))) for name in names]
    cut = max(1, len(names) // 2) if kind != "terms" else len(names)
    rest = names[cut:]
    near = tuple(weighed[cut:]) if kind == "near" else ()
    forms = tuple(
        Form(name, ((name,), (other,))[: chance.choice((1, 2))], 0.5) for name, other in zip(rest[::2], rest[1::2], strict=False)
    )
    instead = (Alternatives(tuple(names[: cut // 2]), forms),) if kind == "instead" and forms else ()
    return Plan(parse("x"), tuple(weighed[:cut]), near, (), (), None, alternatives=instead)


def key(sections: Any) -> dict[int, str]:
    return {section: f"{section * 7 % 13}" for section in sections}


def shown(ranking: Ranking) -> tuple[Any, ...]:
    return ranking.hits, ranking.total, ranking.text, ranking.head, ranking.instead_text, ranking.instead_head


@pytest.mark.parametrize("kind", ["terms", "near", "instead"])
@pytest.mark.parametrize("share", [best._FEW_SHARE, 0.0, 10.0])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_the_best_hits_are_those_of_scoring_every_hit_to_the_last_bit(
    edited: Snapshot, kind: str, share: float, seed: int
) -> None:
    chance = random.Random(seed)
    asked = plan_of(chance, kind)
    count = chance.choice((1, 3, 10, 200))
    named = {int(s): 0.5 for s in chance.sample(edited.segments[0].hit_section.tolist(), chance.choice((0, 0, 2)))}
    masks = None
    if chance.random() < 0.3:
        generator = np.random.default_rng(seed)
        masks = [None if chance.random() < 0.2 else generator.random(len(s.hit_section)) < 0.6 for s in edited.segments]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(best, "_FEW_SHARE", share)
        patch.setattr(best, "_SCAN_SHARE", share)
        patch.setattr(best, "_ENOUGH", chance.choice((1, 40)))
        found = rank(edited, asked, count, named=named, masks=masks, key=key)
    assert shown(found) == shown(every.rank(edited, asked, count, named, masks, key, Weights()))


def test_a_state_of_one_segment_shares_its_arrays(make_base: MakeBase) -> None:
    base = make_base({f"{n}.md": f"# T{n}\n\nshared word{n}\n" for n in range(20)})
    base.kb.index()
    catalog = base.kb._catalog()
    with catalog.reading():
        snapshot = base.kb._state(catalog)
    whole, segment = joined.of(snapshot), snapshot.segments[0]
    assert whole.unit_hit is segment.unit_hit
    (term,) = whole.weigh(snapshot, "text", [("share", 1.0)], Weights().text)
    assert np.shares_memory(term.held, segment.text.units)


def test_what_is_kept_of_terms_is_bounded(make_base: MakeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joined, "_LEAST_KEPT", 200)
    monkeypatch.setattr(joined, "_MOST_KEPT", 200)
    base = make_base({f"{n}.md": f"# T{n}\n\nshared word{n} {' '.join(f'x{n}y{m}' for m in range(50))}\n" for n in range(20)})
    base.kb.index()
    first = base.search("shared word1").as_json()
    for n in range(20):
        base.search(" ".join(f"x{n}y{m}" for m in range(50)))
    whole = joined.of(base.kb._snapshot)  # type: ignore[arg-type]
    assert sum(map(len, whole._terms.values())) < 250
    assert base.search("shared word1").as_json() == first


@pytest.mark.parametrize("scoring", ["lucene", "plus"])
def test_hits_of_a_new_segment_do_not_stand_before_better_ones_that_have_variants(make_base: MakeBase, scoring: str) -> None:
    # The variants of an id score alike, and each id otherwise.
    files = {
        f"{folder}{n}.md": f"---\nid: N.{n}\n---\n# Note\n\n{'alpha ' * (n + 2)}{'beta ' * (20 - n)}\n"
        for n in range(12)
        for folder in ("", "de/")
    }
    toml = f'[[collections]]\nname = "docs"\nroot = "docs"\nlanguages = ["de"]\n[search]\nscoring = "{scoring}"\n'
    base = make_base(files, toml=toml)
    base.kb.index()
    for n in range(8):
        base.write(f"weak{n}.md", f"# Weak\n\nalpha {'gamma ' * 60}\n")
    base.kb.index()
    assert base.search("alpha", limit=10).as_json() == base.rebuilt().search("alpha", limit=10).as_json()
    assert all(id_.startswith("N.") for id_ in base.ids("alpha", limit=10))
