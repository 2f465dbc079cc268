"""Which section gets which id when several documents claim the same one, and what its parent is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from kb.records import record


@record
class Claim:
    """A document that wants an id. Documents of one `variant` key are the same text in different languages."""

    source: str
    variant: str
    language: str


def assign(wanted: str, claims: Iterable[Claim], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return source -> id for the documents that claim `wanted`.

    The first by path keeps it, together with its variants in other languages; every other gets a number.
    `taken` are ids that a number may not make.
    """
    held = set(taken)
    out: dict[str, str] = {}
    groups: dict[tuple[str, int], str] = {}
    seen: dict[tuple[str, str], int] = {}
    number = 1
    for claim in sorted(claims, key=lambda claim: claim.source):
        # The same language twice under one variant key is no variant but another claim.
        copy = seen.get((claim.variant, claim.language), 0)
        seen[claim.variant, claim.language] = copy + 1
        key = (claim.variant, copy)
        if key not in groups:
            name = wanted if number == 1 else f"{wanted}-{number}"
            while number > 1 and name in held:
                number += 1
                name = f"{wanted}-{number}"
            groups[key] = name
            number += 1
        out[claim.source] = groups[key]
    return out


def without_number(id_: str) -> str:
    """Return an id without the number that `assign` may have given it: `guide-2` -> `guide`; any other as it is."""
    name, hyphen, number = id_.rpartition("-")
    return name if hyphen and name and number.isdecimal() else id_


def prefixes(dotted: str) -> list[str]:
    """Return the ids a dotted identifier lies under, nearest first: `B.3:1.2` -> `B.3:1`, `B.3`, `B`."""
    out: list[str] = []
    while True:
        cut = max(dotted.rfind("."), dotted.rfind(":"))
        if cut <= 0:
            return out
        dotted = dotted[:cut]
        out.append(dotted)


def nearest(dotted: str, existing: Mapping[str, object]) -> str | None:
    """Return the nearest identifier above a dotted one that exists, None where none does."""
    while True:
        cut = max(dotted.rfind("."), dotted.rfind(":"))
        if cut <= 0:
            return None
        dotted = dotted[:cut]
        if dotted in existing:
            return dotted


def parent(id_: str, dotted: bool, heading_parent: str | None, above: str | None) -> str | None:
    """Return the parent of a section; `above`: the nearest identifier above its own that exists.

    A dotted identifier lies under the nearest identifier that exists; failing that, under the heading above it;
    failing that, under its own prefix, a node without text.
    """
    if not dotted:
        return heading_parent
    if above is not None or heading_parent is not None:
        return above if above is not None else heading_parent
    return next(iter(prefixes(id_)), None)


def group_number(collection: str, id_: str) -> int:
    """Return the number that the language variants of one id share."""
    digest = hashlib.blake2b(f"{collection}\0{id_}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
