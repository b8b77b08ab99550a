"""Reads texts word by word into tokens, quantities and clauses, by the words of a lexicon."""
