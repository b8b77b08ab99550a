-- The signed paper that the change is which revokes a consent, for the audit; empty for every other.
ALTER TABLE change ADD COLUMN paper TEXT NOT NULL DEFAULT '';
