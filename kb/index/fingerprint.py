"""What of the configuration and of this program an index depends on."""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

from kb.analysis import VERSION as ANALYZER_VERSION
from kb.config import Config
from kb.index.catalog import SCHEMA_VERSION


def fingerprint(config: Config) -> str:
    """Return what of the configuration and this program an index depends on; another value means a new index."""
    return json.dumps(
        {
            "schema": SCHEMA_VERSION,
            "analyzer": ANALYZER_VERSION,
            "passage_words": config.index.passage_words,
            "collections": [
                [c.name, str(c.root), c.type, c.language, c.languages, c.hit_level, c.include, c.exclude, _digest(c.schema)]
                for c in config.collections
            ],
        }
    )


def _digest(schema: Path | None) -> str | None:
    """Return what tells two contents of a schema file apart; a file that went missing is another content."""
    if schema is None:
        return None
    try:
        return f"{crc32(schema.read_bytes()):08x}"
    except OSError:
        return ""
