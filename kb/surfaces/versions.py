"""Which version of kb this is."""

from __future__ import annotations


def version() -> str:
    """Return the version of kb, `0` where it was not installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("kb-search")
    except PackageNotFoundError:
        return "0"
