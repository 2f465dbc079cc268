"""What of the configuration and of this program an index depends on."""

from __future__ import annotations

import json

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
                [c.name, str(c.root), c.type, c.language, c.languages, c.hit_level, c.include, c.exclude]
                for c in config.collections
            ],
        }
    )
