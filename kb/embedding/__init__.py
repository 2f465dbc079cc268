"""Text into vectors: embedding models, deterministic lexical vectors, rerankers. Nothing heavy is imported before use."""
