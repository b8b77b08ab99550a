-- When what an entry tells of happened: by graph's record what graph recorded, else when it was
-- written. The leaf's own bytes say so; they are not touched.

DROP TRIGGER leaf_written_once;
ALTER TABLE leaf ADD COLUMN happen_time INTEGER NOT NULL DEFAULT 0;
UPDATE leaf SET happen_time = coalesce(
  unixepoch(substr(json_extract(CAST(data AS TEXT), '$.properties.record_time'), 1, 19)) * 1000000
  + CAST(substr(json_extract(CAST(data AS TEXT), '$.properties.record_time'), 21, 6) AS INTEGER),
  time);
CREATE TRIGGER leaf_written_once BEFORE UPDATE ON leaf BEGIN SELECT RAISE(ABORT, 'append-only'); END;
