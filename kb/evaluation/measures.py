"""What is measured for each question, through ir-measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kb.errors import NotAvailable
from kb.evaluation.gold import Judged, Unit

RANKED = ("nDCG@10", "MRR@10", "R@1", "R@5")
"""Measures of questions that have an answer. MRR@10 is the mean of RR@10; R is recall, so with two relevant units R@1 is
.5 at most."""
ABSTAINED = "abstained"
"""Of the questions without an answer: 1 where nothing came back, else 0."""
MEASURES = (*RANKED, ABSTAINED)
DEPTH = 10
"""Ranks that any measure looks at."""
INSTALL = 'evaluation needs a package that is not installed; run: pip install "kb-search[eval]"'

Ranked = Mapping[str, Sequence[Unit]]
"""Question id -> the units that came back, best first, each once."""


def require() -> None:
    """Raise NotAvailable with the install command where ir-measures can't be imported."""
    try:
        import ir_measures  # noqa: F401
    except ImportError as error:
        raise NotAvailable(INSTALL) from error


def values(questions: Sequence[Judged], ranked: Ranked) -> dict[str, dict[str, float]]:
    """Return measure -> question id -> value. Raises NotAvailable where ir-measures is not installed.

    Ranks are handed over as falling scores, so that equal scores of a search can't be put into another order.
    """
    require()
    import ir_measures

    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    out: dict[str, dict[str, float]] = {name: {} for name in MEASURES}
    for judged in questions:
        id_ = judged.question.id
        units = ranked[id_]
        if not judged.units:
            out[ABSTAINED][id_] = float(not units)
            continue
        for name in RANKED:
            out[name][id_] = 0.0  # ir-measures leaves out a question for which nothing came back
        qrels[id_] = {key(unit): 1 for unit in judged.units}
        run[id_] = {key(unit): float(len(units) - at) for at, unit in enumerate(units)}
    if qrels:
        wanted = {ir_measures.parse_measure(name.replace("MRR", "RR")): name for name in RANKED}
        for found in ir_measures.iter_calc(list(wanted), qrels, run):
            out[wanted[found.measure]][found.query_id] = float(found.value)
    return out


def key(unit: Unit) -> str:
    """Return a unit as one text, the same for equal units only."""
    return f"{unit.name}@{unit.collection}"
