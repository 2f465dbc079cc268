"""Files in, documents and sections out."""
