-- A node that was only made for what memories state goes with the last of them, and its name with it
-- (spec M4). of_facts: 1 until a caller writes the node; erase_time as in memories.
ALTER TABLE node ADD COLUMN of_facts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE node ADD COLUMN erase_time INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER node_erased_for_good BEFORE INSERT ON node
WHEN (SELECT p.erase_time FROM node p WHERE p.space = NEW.space AND p.id = NEW.id
      ORDER BY p.revision DESC LIMIT 1) <> 0
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- As before, but for what is erased once its newest revision is.
DROP TRIGGER node_written_once;
CREATE TRIGGER node_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, name, label, properties, vector_id, of_facts, erase_time ON node
WHEN NOT (
  OLD.erase_time = 0
  AND EXISTS (SELECT 1 FROM node n WHERE n.space = OLD.space AND n.id = OLD.id
              AND n.record_until = 9223372036854775807 AND n.erase_time <> 0
              AND n.erase_time = NEW.erase_time)
  AND NEW.salt = x'' AND NEW.name = '' AND NEW.label = 'Entity' AND NEW.properties = '{}'
  AND NEW.vector_id = '' AND NEW.of_facts = OLD.of_facts
  AND NEW.space = OLD.space AND NEW.id = OLD.id AND NEW.revision = OLD.revision
  AND NEW.seq = OLD.seq AND NEW.record_from = OLD.record_from AND NEW.deleted = OLD.deleted
  AND NEW.principal = OLD.principal AND NEW.create_time = OLD.create_time
)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
