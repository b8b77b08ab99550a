-- What stands for the principals is written by the genesis, by a restored one and by a change of a key:
-- any other grant leaves it alone (spec V2, V5). Without a grant it is constitutive, or held by what is.
ALTER TABLE open_grant ADD COLUMN principals INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER edge_reserved_insert BEFORE INSERT ON edge
WHEN EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space AND g.principals = 0) AND (
  NEW.relation LIKE 'concord:%'
  OR EXISTS (SELECT 1 FROM node n WHERE n.space = NEW.space
             AND n.id IN (NEW.source_id, NEW.target_id) AND n.name LIKE 'concord:%')
  OR EXISTS (SELECT 1 FROM edge e WHERE e.space = NEW.space
             AND e.id IN (NEW.source_id, NEW.target_id) AND e.relation LIKE 'concord:%')
) BEGIN SELECT RAISE(ABORT, 'reserved'); END;

CREATE TRIGGER node_reserved_insert BEFORE INSERT ON node
WHEN EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space AND g.principals = 0) AND (
  NEW.name LIKE 'concord:%'
  OR EXISTS (SELECT 1 FROM node n WHERE n.space = NEW.space AND n.id = NEW.id
             AND n.name LIKE 'concord:%')
) BEGIN SELECT RAISE(ABORT, 'reserved'); END;
