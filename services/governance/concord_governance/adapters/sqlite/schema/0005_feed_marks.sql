-- What tells the last change that was applied of graph's feed from another of its number.

ALTER TABLE space ADD COLUMN feed_mark TEXT NOT NULL DEFAULT '';
