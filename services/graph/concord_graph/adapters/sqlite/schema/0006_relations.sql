-- What is declared about relations (spec T2): a row is one revision, as of nodes and edges.
CREATE TABLE relation (
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
  functional INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX relation_revision ON relation (space, id, revision);
CREATE UNIQUE INDEX relation_current ON relation (space, name)
  WHERE record_until = 9223372036854775807;
CREATE TRIGGER relation_kept BEFORE DELETE ON relation
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER relation_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, name, functional ON relation
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- The edges of one source and relation by time, whatever their targets. Only a statement that says
-- seq > 0, which all rows have, is answered from here: the planner would take it for others, and for
-- lineage read every SUPERSEDES that there is.
CREATE INDEX edge_succession ON edge (space, relation, source_id, effective_from) WHERE seq > 0;
