"""How many single-character edits lie between two spellings."""

from __future__ import annotations

_LATIN = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC = "".join(map(chr, range(ord("а"), ord("я") + 1)))


def within(first: str, second: str, most: int) -> int | None:
    """Return the optimal string alignment distance (insert, delete, replace, swap neighbours), or None above `most`.

    Damerau, "A technique for computer detection and correction of spelling errors" (1964). Counts characters, so a
    Russian word has the same allowance as an English one.
    """
    if abs(len(first) - len(second)) > most:
        return None
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, 1):
        older, before, row = before, row, [i]
        best = i
        for j, right in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == second[j - 2] and first[i - 2] == right:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
            best = min(best, cost)
        if best > most:
            return None
    return row[-1] if row[-1] <= most else None


def signature(spelling: str) -> int:
    """Return a 64-bit set of a spelling's characters: one edit changes at most two bits."""
    bits = 0
    for char in spelling:
        bits |= 1 << (ord(char) & 63)
    return bits


def one_edit_away(word: str) -> set[str]:
    """Return all that one insertion, removal, replacement or swap of neighbours makes of a word, with letters of its script.

    Norvig, "How to write a spelling corrector" (2007).
    """
    letters = _CYRILLIC if any("а" <= char <= "я" for char in word) else _LATIN
    out = {word[:at] + word[at + 1 :] for at in range(len(word))}
    out |= {word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1)}
    out |= {word[:at] + letter + word[at + 1 :] for at in range(len(word)) for letter in letters}
    out |= {word[:at] + letter + word[at:] for at in range(len(word) + 1) for letter in letters}
    return out - {word}
