"""Contract to words and back."""
