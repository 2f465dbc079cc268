"""Sections into something that lasts: the catalog (SQLite) and immutable segments of postings."""
