-- Schema 1. Every table but `access` is append-only but for closing `record_until`.
-- Times are integer microseconds UTC; 9223372036854775807 = for ever.
-- A row of node, edge or memory is one revision; deleted = 1 is a tombstone.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE space (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  seq INTEGER NOT NULL,
  last_time INTEGER NOT NULL
) STRICT;

CREATE TABLE node (
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
  name TEXT NOT NULL,
  label TEXT NOT NULL,
  properties TEXT NOT NULL,
  vector_id TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX node_revision ON node (space, id, revision);
CREATE UNIQUE INDEX node_current ON node (space, id) WHERE record_until = 9223372036854775807;
CREATE UNIQUE INDEX node_name ON node (space, name)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX node_name_then ON node (space, name, record_from);

CREATE TABLE edge (
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
  source_id TEXT NOT NULL,
  source_kind INTEGER NOT NULL,
  relation TEXT NOT NULL,
  target_id TEXT NOT NULL,
  target_kind INTEGER NOT NULL,
  weight REAL NOT NULL,
  properties TEXT NOT NULL,
  edge_type INTEGER NOT NULL,
  importance INTEGER NOT NULL,
  valid_from INTEGER,
  valid_until INTEGER,
  effective_from INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  governed INTEGER NOT NULL,
  replaces INTEGER NOT NULL, -- 1: SUPERSEDES or DEPRECATES
  hides INTEGER NOT NULL     -- 1: those and AMENDS
) STRICT;
CREATE UNIQUE INDEX edge_revision ON edge (space, id, revision);
CREATE UNIQUE INDEX edge_current ON edge (space, id) WHERE record_until = 9223372036854775807;
CREATE UNIQUE INDEX edge_triple ON edge (space, source_id, relation, target_id, effective_from)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX edge_target ON edge (space, target_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX edge_source_then ON edge (space, source_id, record_from);
CREATE INDEX edge_target_then ON edge (space, target_id, record_from);
CREATE INDEX edge_constitutive_source ON edge (space, source_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND edge_type = 2;
CREATE INDEX edge_constitutive_target ON edge (space, target_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND edge_type = 2;
CREATE INDEX edge_governed ON edge (space, source_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND governed = 1;
CREATE INDEX edge_replaces ON edge (space, target_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND replaces = 1;
CREATE INDEX edge_replacing ON edge (space, source_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND replaces = 1;
CREATE INDEX edge_content ON edge (space, source_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND origin = 2;

CREATE TABLE memory (
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
  id_stated INTEGER NOT NULL,
  content TEXT NOT NULL,
  content_digest TEXT NOT NULL,
  memory_kind INTEGER NOT NULL,
  concepts TEXT NOT NULL,
  concepts_stated INTEGER NOT NULL,
  domain TEXT NOT NULL,
  importance INTEGER NOT NULL,
  surfaces_when TEXT NOT NULL,
  sources TEXT NOT NULL,
  external_id TEXT,
  category TEXT NOT NULL,
  tags TEXT NOT NULL,
  session_id TEXT NOT NULL,
  edge_type INTEGER NOT NULL,
  valid_from INTEGER,
  valid_until INTEGER,
  effective_from INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX memory_revision ON memory (space, id, revision);
CREATE UNIQUE INDEX memory_current ON memory (space, id) WHERE record_until = 9223372036854775807;
CREATE UNIQUE INDEX memory_external ON memory (space, external_id)
  WHERE record_until = 9223372036854775807 AND external_id IS NOT NULL;
CREATE INDEX memory_says ON memory (space, content_digest)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX memory_newest ON memory (space, create_time, id)
  WHERE record_until = 9223372036854775807 AND deleted = 0;

CREATE TABLE access (
  space INTEGER NOT NULL,
  id TEXT NOT NULL,
  last_time INTEGER NOT NULL,
  count INTEGER NOT NULL,
  unannounced INTEGER NOT NULL,
  PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX access_unannounced ON access (space) WHERE unannounced = 1;

CREATE TABLE change (
  space INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  record_time INTEGER NOT NULL,
  item_id TEXT NOT NULL,
  item_kind INTEGER NOT NULL,
  type INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  digest TEXT NOT NULL,
  before_digest TEXT NOT NULL,
  principal TEXT NOT NULL,
  method TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (space, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX change_item ON change (space, item_id, seq);

CREATE TABLE request (
  space INTEGER NOT NULL,
  principal TEXT NOT NULL,
  method TEXT NOT NULL,
  request_id TEXT NOT NULL,
  salt BLOB NOT NULL,
  digest TEXT NOT NULL,
  refs TEXT NOT NULL,
  seq INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  PRIMARY KEY (space, principal, method, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_age ON request (create_time);

CREATE TABLE nonce (
  space INTEGER NOT NULL,
  nonce TEXT NOT NULL,
  PRIMARY KEY (space, nonce)
) STRICT, WITHOUT ROWID;

CREATE TABLE genesis (space INTEGER PRIMARY KEY, envelope BLOB NOT NULL, digest TEXT NOT NULL) STRICT;

-- Holds a row only inside a transaction that a grant let through.
CREATE TABLE open_grant (space INTEGER PRIMARY KEY, digest TEXT NOT NULL) STRICT;

-- Genesis and burnt nonces stay as they are.
CREATE TRIGGER genesis_kept BEFORE DELETE ON genesis
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER genesis_written_once BEFORE UPDATE ON genesis
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER nonce_kept BEFORE DELETE ON nonce
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER nonce_written_once BEFORE UPDATE ON nonce
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- The store's own protection (spec G4): the same promise as the use cases', kept once more here.
-- A new revision is judged by the newest one before it, whatever number it gives itself.
-- What both parties agreed to rests on these items: ends of constitutive edges, the newer sides of
-- lineage that was made with consent, and the ends of such newer sides that are edges.
CREATE VIEW held (space, id) AS
  SELECT space, source_id FROM edge
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND edge_type = 2
  UNION ALL SELECT space, target_id FROM edge
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND edge_type = 2
  UNION ALL SELECT space, source_id FROM edge
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND governed = 1
  UNION ALL SELECT n.space, n.source_id FROM edge n
  JOIN edge l ON l.space = n.space AND l.source_id = n.id
  WHERE n.record_until = 9223372036854775807 AND n.deleted = 0
    AND l.record_until = 9223372036854775807 AND l.deleted = 0 AND l.governed = 1
  UNION ALL SELECT n.space, n.target_id FROM edge n
  JOIN edge l ON l.space = n.space AND l.source_id = n.id
  WHERE n.record_until = 9223372036854775807 AND n.deleted = 0
    AND l.record_until = 9223372036854775807 AND l.deleted = 0 AND l.governed = 1;

CREATE TRIGGER edge_protected_insert BEFORE INSERT ON edge
WHEN NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space) AND (
  (NEW.edge_type = 2 AND NEW.deleted = 0)
  OR EXISTS (SELECT 1 FROM (SELECT p.deleted, p.edge_type, p.governed FROM edge p
             WHERE p.space = NEW.space AND p.id = NEW.id ORDER BY p.revision DESC LIMIT 1) p
             WHERE p.deleted = 0 AND (p.edge_type = 2 OR p.governed = 1))
  OR EXISTS (SELECT 1 FROM held h WHERE h.space = NEW.space AND h.id = NEW.id)
  OR (NEW.hides = 1 AND (
        EXISTS (SELECT 1 FROM memory m WHERE m.space = NEW.space AND m.id = NEW.source_id
                AND m.record_until = 9223372036854775807 AND m.deleted = 0 AND m.edge_type = 2)
     OR EXISTS (SELECT 1 FROM edge e WHERE e.space = NEW.space AND e.id = NEW.source_id
                AND e.record_until = 9223372036854775807 AND e.deleted = 0 AND e.edge_type = 2)))
  OR (NEW.hides = 1 AND NEW.deleted = 0 AND (
        EXISTS (SELECT 1 FROM memory m WHERE m.space = NEW.space AND m.id = NEW.target_id
                AND m.record_until = 9223372036854775807 AND m.deleted = 0 AND m.edge_type = 2)
     OR EXISTS (SELECT 1 FROM edge e WHERE e.space = NEW.space AND e.id = NEW.target_id
                AND e.record_until = 9223372036854775807 AND e.deleted = 0 AND e.edge_type = 2)))
) BEGIN SELECT RAISE(ABORT, 'constitutive'); END;

CREATE TRIGGER memory_protected_insert BEFORE INSERT ON memory
WHEN NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space) AND (
  (NEW.edge_type = 2 AND NEW.deleted = 0)
  OR EXISTS (SELECT 1 FROM (SELECT p.deleted, p.edge_type FROM memory p
             WHERE p.space = NEW.space AND p.id = NEW.id ORDER BY p.revision DESC LIMIT 1) p
             WHERE p.deleted = 0 AND p.edge_type = 2)
  OR EXISTS (SELECT 1 FROM held h WHERE h.space = NEW.space AND h.id = NEW.id)
) BEGIN SELECT RAISE(ABORT, 'constitutive'); END;

CREATE TRIGGER node_protected_insert BEFORE INSERT ON node
WHEN NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space)
  AND EXISTS (SELECT 1 FROM held h WHERE h.space = NEW.space AND h.id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;

-- A revision is closed by its successor alone, so these also keep rows from being closed and left.
CREATE TRIGGER edge_protected_close BEFORE UPDATE OF record_until ON edge
WHEN NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = OLD.space) AND (
  (OLD.deleted = 0 AND (OLD.edge_type = 2 OR OLD.governed = 1))
  OR EXISTS (SELECT 1 FROM held h WHERE h.space = OLD.space AND h.id = OLD.id))
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;
CREATE TRIGGER memory_protected_close BEFORE UPDATE OF record_until ON memory
WHEN NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = OLD.space) AND (
  (OLD.deleted = 0 AND OLD.edge_type = 2)
  OR EXISTS (SELECT 1 FROM held h WHERE h.space = OLD.space AND h.id = OLD.id))
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;
CREATE TRIGGER node_protected_close BEFORE UPDATE OF record_until ON node
WHEN NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = OLD.space)
  AND EXISTS (SELECT 1 FROM held h WHERE h.space = OLD.space AND h.id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;

-- History is written once: a revision row may only be closed, never rewritten or removed.
CREATE TRIGGER node_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, name, label, properties, vector_id ON node
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER edge_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, source_id, source_kind, relation, target_id, target_kind, weight,
  properties, edge_type, importance, valid_from, valid_until, effective_from, origin, governed,
  replaces, hides ON edge
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER memory_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, id_stated, content, content_digest, memory_kind, concepts,
  concepts_stated, domain, importance, surfaces_when, sources, external_id, category, tags,
  session_id, edge_type, valid_from, valid_until, effective_from ON memory
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER node_kept BEFORE DELETE ON node BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER edge_kept BEFORE DELETE ON edge BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER memory_kept BEFORE DELETE ON memory BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER change_kept BEFORE DELETE ON change BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER change_written_once BEFORE UPDATE ON change
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
