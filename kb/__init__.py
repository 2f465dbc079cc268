"""Find the right section of a knowledge base in the language of the reader."""
