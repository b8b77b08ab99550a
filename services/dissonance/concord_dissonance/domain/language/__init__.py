"""What a text says, word by word: its tokens, quantities and clauses, by the words of a lexicon."""
