"""What is kept of texts that were read, in a file of SQLite."""
