-- What kind of caller asked: AGENT, HUMAN or SYSTEM; empty for what was written before this step, or
-- imported.
ALTER TABLE change ADD COLUMN actor TEXT NOT NULL DEFAULT '';
