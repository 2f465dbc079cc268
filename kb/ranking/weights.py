"""The numbers that ranking depends on, each with its origin."""

from __future__ import annotations

K1 = 1.2
B = 0.75
"""BM25's saturation and length normalisation. Robertson and Zaragoza (2009) give 1.2-2 and .5-.8; on XQuAD dev in three
languages k1 from 1.2 to 1.5 at b = .75 is a plateau."""

HEAD_B = 0.75
"""Titles are short and their length says little: less normalisation than for text."""

PASSAGE_WEIGHT = 1.0
LEAD_WEIGHT = 0.5
HEAD_WEIGHT = 1.0
"""What the best passage, the lead and the head (title, id, aliases, titles above) add to a section's score."""

SNIPPET_CHARACTERS = 240
SUGGESTIONS = 5

FUSION = "min-max"
DENSE_WEIGHT = 0.5
DENSE_CANDIDATES = 100
KEYWORD_CANDIDATES = 200
RERANK_WEIGHT = 1.0
