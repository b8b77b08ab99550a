-- How many times a key of a space's principals was changed by what this ledger decided.

ALTER TABLE space ADD COLUMN key_changes INTEGER NOT NULL DEFAULT 0;
