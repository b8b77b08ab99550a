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
