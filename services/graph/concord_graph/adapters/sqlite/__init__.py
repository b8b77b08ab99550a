"""The embedded store: one SQLite file, WAL, synchronous=FULL."""
