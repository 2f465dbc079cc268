"""Terms into ordered hits: BM25, fields, grouping, snippets, and what each score is made of."""
