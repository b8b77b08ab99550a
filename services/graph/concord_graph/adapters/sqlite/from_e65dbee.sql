-- From schema 19 to 26.

-- What else a caller keeps with a memory (spec M1): a JSON object, erased with the rest.
ALTER TABLE memory ADD COLUMN properties TEXT NOT NULL DEFAULT '{}';

DROP TRIGGER memory_written_once;
CREATE TRIGGER memory_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, id_stated, content, content_digest, memory_kind, concepts,
  concepts_stated, domain, importance, surfaces_when, sources, external_id, category, tags,
  session_id, edge_type, valid_from, valid_until, effective_from, turn_order, erase_time,
  facts, properties ON memory
WHEN NOT (
  OLD.erase_time = 0
  AND EXISTS (SELECT 1 FROM memory n WHERE n.space = OLD.space AND n.id = OLD.id
              AND n.record_until = 9223372036854775807 AND n.erase_time <> 0
              AND n.erase_time = NEW.erase_time)
  AND NEW.salt = x'' AND NEW.content = '' AND NEW.content_digest = '' AND NEW.concepts = '[]'
  AND NEW.concepts_stated = 0 AND NEW.domain = '' AND NEW.importance = 0
  AND NEW.surfaces_when = '[]' AND NEW.sources = '[]' AND NEW.external_id IS NULL
  AND NEW.category = '' AND NEW.tags = '[]' AND NEW.facts = '[]' AND NEW.properties = '{}'
  AND NEW.space = OLD.space AND NEW.id = OLD.id AND NEW.revision = OLD.revision
  AND NEW.seq = OLD.seq AND NEW.record_from = OLD.record_from AND NEW.deleted = OLD.deleted
  AND NEW.principal = OLD.principal AND NEW.create_time = OLD.create_time
  AND NEW.id_stated = OLD.id_stated AND NEW.memory_kind = OLD.memory_kind
  AND NEW.edge_type = OLD.edge_type AND NEW.valid_from IS OLD.valid_from
  AND NEW.valid_until IS OLD.valid_until AND NEW.effective_from = OLD.effective_from
  AND NEW.session_id = OLD.session_id AND NEW.turn_order = OLD.turn_order
)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- Hex SHA-256 of the one-time secret that a space's genesis takes, as governance registered it.

ALTER TABLE space ADD COLUMN enrolment TEXT NOT NULL DEFAULT '';

-- What amends an item is looked for wherever the item is read (spec T4), and most have nothing.
CREATE INDEX edge_amends ON edge (space, target_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND relation = 'AMENDS';

-- A deleted space stays deleted, and its rows alone may be removed. One with a genesis is deleted under
-- an open grant, as what is constitutive is changed.

ALTER TABLE space ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER space_deleted_for_good BEFORE UPDATE OF deleted ON space
WHEN OLD.deleted <> 0 OR (EXISTS (SELECT 1 FROM genesis g WHERE g.space = OLD.id)
  AND NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = OLD.id))
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;

DROP TRIGGER node_kept;
CREATE TRIGGER node_kept BEFORE DELETE ON node
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
DROP TRIGGER edge_kept;
CREATE TRIGGER edge_kept BEFORE DELETE ON edge
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
DROP TRIGGER memory_kept;
CREATE TRIGGER memory_kept BEFORE DELETE ON memory
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
DROP TRIGGER entry_kept;
CREATE TRIGGER entry_kept BEFORE DELETE ON entry
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
DROP TRIGGER relation_kept;
CREATE TRIGGER relation_kept BEFORE DELETE ON relation
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
DROP TRIGGER support_kept;
CREATE TRIGGER support_kept BEFORE DELETE ON support
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- As before, but that void lineage is in no erasure's way: what it says goes, and it counts for
-- nothing at what defines the agent.
DROP TRIGGER edge_protected_insert;
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
  OR (NEW.hides = 1 AND NEW.deleted = 0 AND NEW.erase_time = 0 AND (
        EXISTS (SELECT 1 FROM memory m WHERE m.space = NEW.space AND m.id = NEW.target_id
                AND m.record_until = 9223372036854775807 AND m.deleted = 0 AND m.edge_type = 2)
     OR EXISTS (SELECT 1 FROM edge e WHERE e.space = NEW.space AND e.id = NEW.target_id
                AND e.record_until = 9223372036854775807 AND e.deleted = 0 AND e.edge_type = 2)
     OR EXISTS (SELECT 1 FROM held h WHERE h.space = NEW.space AND h.id = NEW.target_id)))
  OR (NEW.deleted = 0
      AND NEW.relation NOT IN ('SUPERSEDES', 'DEPRECATES', 'AMENDS', 'CONTRADICTS')
      AND EXISTS (SELECT 1 FROM edge t JOIN edge l ON l.space = t.space AND l.source_id = t.id
          WHERE t.space = NEW.space AND t.source_id = NEW.source_id AND t.relation = NEW.relation
            AND t.target_id = NEW.target_id AND t.id <> NEW.id
            AND t.record_until = 9223372036854775807 AND t.deleted = 0
            AND l.record_until = 9223372036854775807 AND l.deleted = 0 AND l.governed = 1)
      AND NOT EXISTS (SELECT 1 FROM (SELECT * FROM edge p
          WHERE p.space = NEW.space AND p.id = NEW.id ORDER BY p.revision DESC LIMIT 1) p
          WHERE p.deleted = 0 AND p.source_id = NEW.source_id AND p.relation = NEW.relation
            AND p.target_id = NEW.target_id AND p.effective_from = NEW.effective_from))
) BEGIN SELECT RAISE(ABORT, 'constitutive'); END;

-- The count of refused attempts is kept by the process (decision 0032).

ALTER TABLE space DROP COLUMN tally;

-- Near-identical memories are found after the write.
DROP TABLE IF EXISTS sketch;
DROP TABLE IF EXISTS sketched;
DROP TABLE IF EXISTS sketch_key;
