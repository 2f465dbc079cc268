"""Answers out: the command and whatever else shows what `KnowledgeBase` returns."""
