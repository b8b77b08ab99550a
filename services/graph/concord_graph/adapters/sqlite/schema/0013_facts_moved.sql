-- A full export tells which edges a memory's facts are where it tells of the change by which they became so:
-- it asks for what was opened or closed in a stretch of record time (spec G15, M1).
CREATE INDEX support_opened ON support (space, record_from, memory_id, place);
CREATE INDEX support_closed ON support (space, record_until, memory_id)
  WHERE record_until <> 9223372036854775807;
