"""Misspelt questions: one typo in every long word, the same for the same seed."""

from __future__ import annotations

import random
import re
import string

SHORTEST = 5
"""Words of fewer letters are left as they are."""
_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = string.ascii_lowercase
_CYRILLIC = "".join(map(chr, range(ord("а"), ord("я") + 1)))


def misspell(text: str, seed: str) -> str:
    """Return a text with one letter inserted, deleted, replaced or swapped in every word of 5 or more letters.

    Each kind and each place is as likely as another. A typo always changes the word; other words keep their spelling.
    """
    generator = random.Random(seed)
    return _LETTERS.sub(lambda match: _typo(match.group(), generator) if len(match.group()) >= SHORTEST else match.group(), text)


def _typo(word: str, generator: random.Random) -> str:
    alphabet = _CYRILLIC if any("а" <= char.lower() <= "я" for char in word) else _LATIN
    while True:
        kind = generator.choice(("insert", "delete", "replace", "swap"))
        at = generator.randrange(len(word) + (kind == "insert") - (kind == "swap"))
        letter = generator.choice(alphabet)
        if kind == "insert":
            changed = word[:at] + letter + word[at:]
        elif kind == "delete":
            changed = word[:at] + word[at + 1 :]
        elif kind == "replace":
            changed = word[:at] + letter + word[at + 1 :]
        else:
            changed = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        if changed.lower() != word.lower():
            return changed
