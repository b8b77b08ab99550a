-- What a memory said can be erased, in every revision; ids, times and lineage between ids stay (M4).
-- erase_time: when (microseconds UTC), in every revision of an erased item; 0 = never.
ALTER TABLE memory ADD COLUMN erase_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE edge ADD COLUMN erase_time INTEGER NOT NULL DEFAULT 0;

CREATE TABLE erasure (
  space INTEGER NOT NULL,
  id TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  time INTEGER NOT NULL,
  principal TEXT NOT NULL,
  reason TEXT NOT NULL,
  digest TEXT NOT NULL,
  edge_count INTEGER NOT NULL,
  PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX erasure_memory ON erasure (space, memory_id);
CREATE TRIGGER erasure_kept BEFORE DELETE ON erasure
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER erasure_written_once BEFORE UPDATE ON erasure
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TABLE erase_confirmation (
  space INTEGER NOT NULL,
  erase_id TEXT NOT NULL,
  place INTEGER NOT NULL, -- in the order of the configuration
  confirmer TEXT NOT NULL,
  time INTEGER, -- NULL until it confirmed
  PRIMARY KEY (space, erase_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX erase_unconfirmed ON erase_confirmation (confirmer) WHERE time IS NULL;
CREATE TRIGGER erase_confirmation_kept BEFORE DELETE ON erase_confirmation
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER erase_confirmed_once BEFORE UPDATE ON erase_confirmation
WHEN OLD.time IS NOT NULL OR NEW.time IS NULL OR NEW.space <> OLD.space
  OR NEW.erase_id <> OLD.erase_id OR NEW.place <> OLD.place OR NEW.confirmer <> OLD.confirmer
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- Nothing comes after an erased revision.
CREATE TRIGGER memory_erased_for_good BEFORE INSERT ON memory
WHEN (SELECT p.erase_time FROM memory p WHERE p.space = NEW.space AND p.id = NEW.id
      ORDER BY p.revision DESC LIMIT 1) <> 0
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER edge_erased_for_good BEFORE INSERT ON edge
WHEN (SELECT p.erase_time FROM edge p WHERE p.space = NEW.space AND p.id = NEW.id
      ORDER BY p.revision DESC LIMIT 1) <> 0
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- The history of what defines the agent goes with both parties' consent only, also when forgotten.
CREATE TRIGGER memory_protected_erase BEFORE INSERT ON memory
WHEN NEW.erase_time <> 0 AND NEW.edge_type = 2
  AND NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space)
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;
CREATE TRIGGER edge_protected_erase BEFORE INSERT ON edge
WHEN NEW.erase_time <> 0 AND NEW.edge_type = 2
  AND NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space)
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;

-- A revision row may be closed, or erased once its item's newest revision is an erased one; it is
-- never rewritten otherwise.
DROP TRIGGER memory_written_once;
CREATE TRIGGER memory_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, id_stated, content, content_digest, memory_kind, concepts,
  concepts_stated, domain, importance, surfaces_when, sources, external_id, category, tags,
  session_id, edge_type, valid_from, valid_until, effective_from, turn_order, erase_time ON memory
WHEN NOT (
  OLD.erase_time = 0
  AND EXISTS (SELECT 1 FROM memory n WHERE n.space = OLD.space AND n.id = OLD.id
              AND n.record_until = 9223372036854775807 AND n.erase_time <> 0
              AND n.erase_time = NEW.erase_time)
  AND NEW.salt = x'' AND NEW.content = '' AND NEW.content_digest = '' AND NEW.concepts = '[]'
  AND NEW.concepts_stated = 0 AND NEW.domain = '' AND NEW.importance = 0
  AND NEW.surfaces_when = '[]' AND NEW.sources = '[]' AND NEW.external_id IS NULL
  AND NEW.category = '' AND NEW.tags = '[]'
  AND NEW.space = OLD.space AND NEW.id = OLD.id AND NEW.revision = OLD.revision
  AND NEW.seq = OLD.seq AND NEW.record_from = OLD.record_from AND NEW.deleted = OLD.deleted
  AND NEW.principal = OLD.principal AND NEW.create_time = OLD.create_time
  AND NEW.id_stated = OLD.id_stated AND NEW.memory_kind = OLD.memory_kind
  AND NEW.edge_type = OLD.edge_type AND NEW.valid_from IS OLD.valid_from
  AND NEW.valid_until IS OLD.valid_until AND NEW.effective_from = OLD.effective_from
  AND NEW.session_id = OLD.session_id AND NEW.turn_order = OLD.turn_order
)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
DROP TRIGGER edge_written_once;
CREATE TRIGGER edge_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, source_id, source_kind, relation, target_id, target_kind, weight,
  properties, edge_type, importance, valid_from, valid_until, effective_from, origin, governed,
  replaces, hides, erase_time ON edge
WHEN NOT (
  OLD.erase_time = 0
  AND EXISTS (SELECT 1 FROM edge n WHERE n.space = OLD.space AND n.id = OLD.id
              AND n.record_until = 9223372036854775807 AND n.erase_time <> 0
              AND n.erase_time = NEW.erase_time)
  AND NEW.salt = x'' AND NEW.properties = '{}' AND NEW.weight = 1.0 AND NEW.importance = 0
  AND NEW.relation = iif(OLD.relation IN ('SUPERSEDES', 'DEPRECATES', 'AMENDS', 'CONTRADICTS'),
                         OLD.relation, 'ERASED')
  AND NEW.target_id IN (OLD.target_id, OLD.id)
  AND NEW.space = OLD.space AND NEW.id = OLD.id AND NEW.revision = OLD.revision
  AND NEW.seq = OLD.seq AND NEW.record_from = OLD.record_from AND NEW.deleted = OLD.deleted
  AND NEW.principal = OLD.principal AND NEW.create_time = OLD.create_time
  AND NEW.source_id = OLD.source_id AND NEW.source_kind = OLD.source_kind
  AND NEW.target_kind = OLD.target_kind AND NEW.edge_type = OLD.edge_type
  AND NEW.valid_from IS OLD.valid_from AND NEW.valid_until IS OLD.valid_until
  AND NEW.effective_from = OLD.effective_from AND NEW.origin = OLD.origin
  AND NEW.governed = OLD.governed AND NEW.replaces = OLD.replaces AND NEW.hides = OLD.hides
)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
