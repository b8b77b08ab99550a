-- How many refused steps of the hour each principal has, and how many of them are not told yet.

ALTER TABLE space ADD COLUMN tally TEXT NOT NULL DEFAULT '';
