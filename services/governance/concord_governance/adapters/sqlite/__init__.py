"""The embedded ledger: one SQLite file."""
