"""What may stand for words of a query: forms of a glossary's terms, words that an unfinished one begins.

In each unit (a passage, a lead, a name) the words asked for and their alternatives count once, by whichever scores most there:
a section that says the same in two languages says it once. The best of several is taken as in the disjunction maximum of
search engines, over what BM25 gives each; a form of several words counts where all of them stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kb.index.segment import Segment
from kb.index.snapshot import Snapshot
from kb.ranking import bm25, impacts, joined, rarity
from kb.ranking.bm25 import Parameters, WeightedTerm
from kb.records import record, replace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kb.ranking.impacts import Impacts
    from kb.ranking.joined import Joined, Term


@record
class Form:
    """One alternative: its text, for each of its words the terms that may stand for it, and what it counts for.

    `given`: somebody has said that it stands for the words; it is not only a guess at what is being typed.
    """

    text: str
    words: tuple[tuple[str, ...], ...]
    weight: float
    given: bool = True


@record
class Alternatives:
    """`terms` of the query and the forms that may stand for all of them; no term is in two of these, nor in both parts."""

    terms: tuple[str, ...]
    forms: tuple[Form, ...]


@record
class Weighed:
    """Alternatives as they stand in one field: `own` of the query, and for each form its text and its words' terms."""

    own: tuple[WeightedTerm, ...]
    forms: tuple[tuple[str, tuple[tuple[WeightedTerm, ...], ...]], ...]

    @property
    def terms(self) -> list[WeightedTerm]:
        """The terms of the forms."""
        return [term for _, words in self.forms for word in words for term in word]


def weigh(
    snapshot: Snapshot,
    field: str,
    alternatives: Iterable[Alternatives],
    scoring: str = "lucene",
    shares: Mapping[str, float] = rarity.NOTHING,
) -> tuple[Weighed, ...]:
    """Return what the live units of a field hold of the alternatives, with idf times the weight of each form.

    `shares`: what terms count for, where it is not 1.
    """

    def of(terms: Iterable[str], weight: float) -> list[WeightedTerm]:
        return bm25.weigh(snapshot, field, [(term, weight * shares.get(term, 1.0)) for term in terms], scoring)

    out = []
    for one in alternatives:
        forms = []
        for form in one.forms:
            words = tuple(tuple(replace(term, absent=0.0) for term in of(word, form.weight)) for word in form.words)
            if all(words):
                forms.append((form.text, words))
        if forms:
            out.append(Weighed(tuple(of(one.terms, 1.0)), tuple(forms)))
    return tuple(out)


def add(
    segment: Segment,
    field: str,
    weighed: Sequence[Weighed],
    mean: float,
    parameters: Parameters,
    scores: NDArray[np.float32],
) -> None:
    """Raise the scores of units, which hold what the query's own terms add, to what their best alternatives give."""
    for one in weighed:
        best = np.zeros_like(scores)
        for _, words in one.forms:
            _raise(segment, field, words, mean, parameters, best)
        own = bm25.scores(segment, field, one.own, mean, parameters)
        scores += np.where(best != 0, np.maximum(best - own, 0), 0)


def _raise(
    segment: Segment,
    field: str,
    words: Sequence[Sequence[WeightedTerm]],
    mean: float,
    parameters: Parameters,
    best: NDArray[np.float32],
) -> None:
    """Raise `best` to what one form adds where all of its words stand."""
    found = [[impacts.of(segment, field, term, mean, parameters) for term in word] for word in words]
    if len(found) == 1 and len(found[0]) == 1:
        only = found[0][0]
        if only is not None and only.units is not None:
            best[only.units] = np.maximum(best[only.units], only.values)
        elif only is not None:
            np.maximum(best, only.values, out=best)
        return
    whole = np.zeros_like(best)
    lacking = np.zeros(len(best), dtype=bool)
    for word in found:
        alone = _sum(word, len(best))
        whole += alone
        lacking |= alone == 0
    whole[lacking] = 0
    np.maximum(best, whole, out=best)


def _sum(found: Iterable[Impacts | None], size: int) -> NDArray[np.float32]:
    out = np.zeros(size, dtype=np.float32)
    for one in found:
        if one is not None:
            one.add_to(out)
    return out


def add_joined(
    whole: Joined, field: str, weighed: Sequence[Weighed], parameters: Parameters, scores: NDArray[np.float32]
) -> list[Term]:
    """Do as `add` for all segments at once; return the terms of the forms."""
    out: list[Term] = []
    size = len(scores)
    for one in weighed:
        best, own = whole.take(size), whole.take(size)
        joined.add([whole.term(field, term, parameters) for term in one.own], own)
        raised: list[NDArray[np.integer]] = []
        for _, words in one.forms:
            found = [[whole.term(field, term, parameters) for term in word] for word in words]
            out += [term for word in found for term in word]
            units, values = _all_of(whole, found, size)
            best[units] = np.maximum(best.take(units), values)
            raised.append(units)
        places = whole.once(np.concatenate(raised), size)
        highest = best.take(places)
        scores[places] += np.where(highest != 0, np.maximum(highest - own.take(places), 0), 0)
        whole.give(best, places)
        whole.give(own, None)
    return out


def _all_of(whole: Joined, words: Sequence[Sequence[Term]], size: int) -> tuple[NDArray[np.integer], NDArray[np.float32]]:
    """Return the units, each once, that hold one of the terms of every word, and what all of them add there."""
    if len(words) == 1 and len(words[0]) == 1:
        return words[0][0].held, words[0][0].at_held
    units: NDArray[np.integer] = np.zeros(0, dtype=np.int32)
    values: NDArray[np.float32] = np.zeros(0, dtype=np.float32)
    for number, word in enumerate(words):
        alone = whole.take(size)
        for term in word:
            if term.frequent:
                alone += term.values
            else:
                np.add.at(alone, term.held, term.values)
        held = np.concatenate([term.held for term in word])
        if number == 0:
            units = whole.once(held, size)
            values = alone.take(units)
        else:
            here = alone.take(units)
            values = (values + here)[here != 0]
            units = units[here != 0]
        whole.give(alone, held)
    return units, values


def explained(
    segment: Segment,
    field: str,
    unit: int,
    weighed: Sequence[Weighed],
    mean: float,
    parameters: Parameters,
    found: dict[str, float],
) -> dict[str, str]:
    """Put into `found`, what each term adds to a unit's score, the alternatives that count there in place of the query's own.

    Returns for each of their terms the form it is of.
    """
    out: dict[str, str] = {}
    for one in weighed:
        best: dict[str, float] = {}
        text = ""
        for name, words in one.forms:
            parts = [bm25.contributions(segment, field, unit, word, mean, parameters) for word in words]
            form = {term: value for part in parts for term, value in part.items()}
            if all(parts) and sum(form.values()) > sum(best.values()):
                best, text = form, name
        absent = {term.term: term.absent for term in one.own}
        if sum(best.values()) > sum(found.get(term, 0.0) - value for term, value in absent.items()):
            for term, value in absent.items():
                found.pop(term, None)
                if value:
                    found[term] = value
            found.update(best)
            out.update(dict.fromkeys(best, text))
    return out
