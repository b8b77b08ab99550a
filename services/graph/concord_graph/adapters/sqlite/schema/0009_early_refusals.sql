-- Imports that were refused while nothing was recorded in their space: they go on record with its
-- first write, and until then leave it unused, so that a better import may follow.
CREATE TABLE early_refusal (
  space INTEGER NOT NULL,
  time INTEGER NOT NULL,
  principal TEXT NOT NULL,
  method TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX early_refusal_space ON early_refusal (space);
CREATE TRIGGER early_refusal_kept BEFORE DELETE ON early_refusal
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER early_refusal_written_once BEFORE UPDATE ON early_refusal
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
