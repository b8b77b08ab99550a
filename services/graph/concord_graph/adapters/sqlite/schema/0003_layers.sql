-- The layers around memories (spec M2): the order of a dialogue's turns, and entries, which are
-- episodes and the texts of working memory.

-- A turn's place in its session's dialogue, from 1; 0 = none.
ALTER TABLE memory ADD COLUMN turn_order INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX memory_turn ON memory (space, session_id, turn_order)
  WHERE record_until = 9223372036854775807 AND memory_kind = 7 AND turn_order > 0;
CREATE INDEX memory_turns ON memory (space, session_id, turn_order, create_time, id)
  WHERE memory_kind = 7;

DROP TRIGGER memory_written_once;
CREATE TRIGGER memory_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, id_stated, content, content_digest, memory_kind, concepts,
  concepts_stated, domain, importance, surfaces_when, sources, external_id, category, tags,
  session_id, edge_type, valid_from, valid_until, effective_from, turn_order ON memory
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- A row is one revision, as of an item. kind: 5 episode, 6 working memory.
CREATE TABLE entry (
  space INTEGER NOT NULL,
  id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  record_from INTEGER NOT NULL,
  record_until INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  principal TEXT NOT NULL,
  salt BLOB NOT NULL,
  create_time INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  shelf TEXT NOT NULL,
  rank INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX entry_revision ON entry (space, id, revision);
CREATE UNIQUE INDEX entry_current ON entry (space, id) WHERE record_until = 9223372036854775807;
CREATE INDEX entry_listed ON entry (space, kind, shelf, rank, record_from)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX entry_of_session ON entry (space, kind, shelf, session_id, rank, record_from)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX entry_then ON entry (space, kind, record_from);

CREATE TRIGGER entry_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, kind, session_id, shelf, rank, body ON entry
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER entry_kept BEFORE DELETE ON entry BEGIN SELECT RAISE(ABORT, 'append-only'); END;
