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
