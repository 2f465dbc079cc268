"""Sections, lists, the tree and the state of a base, read from the catalog and the files."""
