-- From schema 26 to 33.

-- What two values of one source mean, containment, and values that exclude one another (spec D4).
ALTER TABLE relation ADD COLUMN temporal_class INTEGER NOT NULL DEFAULT 0;
ALTER TABLE relation ADD COLUMN transitive INTEGER NOT NULL DEFAULT 0;
ALTER TABLE relation ADD COLUMN exclusive_sets TEXT NOT NULL DEFAULT '[]';
DROP TRIGGER relation_written_once;
CREATE TRIGGER relation_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, name, functional, temporal_class, transitive, exclusive_sets
  ON relation
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- Conflicts are entries (spec D5): their words are erased with a side of them.
ALTER TABLE entry ADD COLUMN words TEXT NOT NULL DEFAULT '{}';
ALTER TABLE entry ADD COLUMN erase_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entry ADD COLUMN first_id TEXT AS (body ->> '$.first.id');
ALTER TABLE entry ADD COLUMN second_id TEXT AS (body ->> '$.second.id');
CREATE UNIQUE INDEX conflict_pair ON entry (space, first_id, second_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND kind = 8;
CREATE INDEX conflict_second ON entry (space, second_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND kind = 8;
CREATE INDEX conflict_first_then ON entry (space, first_id, second_id) WHERE kind = 8;
CREATE INDEX conflict_second_then ON entry (space, second_id) WHERE kind = 8;
DROP TRIGGER entry_written_once;
CREATE TRIGGER entry_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, kind, session_id, shelf, rank, body, words, erase_time ON entry
WHEN NOT (
  OLD.erase_time = 0
  AND EXISTS (SELECT 1 FROM entry n WHERE n.space = OLD.space AND n.id = OLD.id
              AND n.record_until = 9223372036854775807 AND n.erase_time <> 0
              AND n.erase_time = NEW.erase_time)
  AND NEW.salt = x'' AND NEW.words = '{}'
  AND NEW.space = OLD.space AND NEW.id = OLD.id AND NEW.revision = OLD.revision
  AND NEW.seq = OLD.seq AND NEW.record_from = OLD.record_from AND NEW.deleted = OLD.deleted
  AND NEW.principal = OLD.principal AND NEW.create_time = OLD.create_time
  AND NEW.kind = OLD.kind AND NEW.session_id = OLD.session_id AND NEW.shelf = OLD.shelf
  AND NEW.rank = OLD.rank AND NEW.body = OLD.body
)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- Who derives from a memory is looked for among the few that derive from any (spec D12).
CREATE INDEX memory_derived ON memory (space, id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND instr(sources, '"memory_ids":["') > 0;

-- A session's record (spec M7), times in µs: its first use since it last began, its last one, and when
-- it ended; 0 = it goes on.
CREATE TABLE session (
  space INTEGER NOT NULL,
  id TEXT NOT NULL,
  start_time INTEGER NOT NULL,
  last_use_time INTEGER NOT NULL,
  end_time INTEGER NOT NULL,
  PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_used ON session (space, last_use_time);

-- Which memories a session read, and when last: those read last, erased with their memory.
CREATE TABLE co_read (
  space INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (space, session_id, memory_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX co_read_memory ON co_read (space, memory_id);
CREATE INDEX co_read_time ON co_read (space, time);

-- Which sessions stated a memory that was there already, and when first (spec V10).
CREATE TABLE restatement (
  space INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (space, memory_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX restatement_session ON restatement (space, session_id);

-- What other services keep here of a space: one of each kind, as JSON, never words of a memory.
CREATE TABLE service_record (
  space INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (space, kind)
) STRICT, WITHOUT ROWID;

-- In what role a turn was said (spec M2).
ALTER TABLE memory ADD COLUMN role INTEGER NOT NULL DEFAULT 0;
-- Who wrote it down, by the key (spec W8).
ALTER TABLE memory ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER memory_written_once;
CREATE TRIGGER memory_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, id_stated, content, content_digest, memory_kind, concepts,
  concepts_stated, domain, importance, surfaces_when, sources, external_id, category, tags,
  session_id, edge_type, valid_from, valid_until, effective_from, turn_order, erase_time,
  facts, properties, role, origin ON memory
WHEN NOT (
  OLD.erase_time = 0
  AND EXISTS (SELECT 1 FROM memory n WHERE n.space = OLD.space AND n.id = OLD.id
              AND n.record_until = 9223372036854775807 AND n.erase_time <> 0
              AND n.erase_time = NEW.erase_time)
  AND NEW.salt = x'' AND NEW.content = '' AND NEW.content_digest = '' AND NEW.concepts = '[]'
  AND NEW.concepts_stated = 0 AND NEW.domain = '' AND NEW.importance = 0
  AND NEW.surfaces_when = '[]' AND NEW.sources = '[]' AND NEW.external_id IS NULL
  AND NEW.category = '' AND NEW.tags = '[]' AND NEW.facts = '[]' AND NEW.properties = '{}'
  AND NEW.role = 0
  AND NEW.space = OLD.space AND NEW.id = OLD.id AND NEW.revision = OLD.revision
  AND NEW.seq = OLD.seq AND NEW.record_from = OLD.record_from AND NEW.deleted = OLD.deleted
  AND NEW.principal = OLD.principal AND NEW.create_time = OLD.create_time
  AND NEW.id_stated = OLD.id_stated AND NEW.memory_kind = OLD.memory_kind
  AND NEW.edge_type = OLD.edge_type AND NEW.valid_from IS OLD.valid_from
  AND NEW.valid_until IS OLD.valid_until AND NEW.effective_from = OLD.effective_from
  AND NEW.session_id = OLD.session_id AND NEW.turn_order = OLD.turn_order
  AND NEW.origin = OLD.origin
)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- What surfaces by itself is looked for among the few that have a trigger (spec S9).
CREATE INDEX memory_triggered ON memory (space, id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND surfaces_when <> '[]';

-- Which memories an answer of search returned, to whom, where a space keeps that (spec W8): ids alone.
CREATE TABLE recall (
  space INTEGER NOT NULL,
  query_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  principal TEXT NOT NULL,
  session_id TEXT NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (space, query_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX recall_memory ON recall (space, memory_id);
