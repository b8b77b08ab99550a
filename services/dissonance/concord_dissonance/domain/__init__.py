"""What a disagreement is and how it is decided, as plain data and rules: no store, no wire."""
