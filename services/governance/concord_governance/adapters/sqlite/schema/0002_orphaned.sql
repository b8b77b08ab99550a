-- Ids of the lineage and resolutions that an undo left without an end, as JSON.

ALTER TABLE proposal ADD COLUMN orphaned TEXT NOT NULL DEFAULT '[]';
