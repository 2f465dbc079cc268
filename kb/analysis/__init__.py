"""Text into terms: words, identifiers, stems, dictionary forms, languages and spelling."""

VERSION = "4"
"""Version of the analyzer: raise it whenever the same text may give other terms than before."""
