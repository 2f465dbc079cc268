"""The same ranking served elsewhere: candidates from Qdrant, scores and order from the catalog's own statistics."""
