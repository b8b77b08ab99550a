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
