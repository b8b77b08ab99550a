-- Reads as of another record time find what was known then without walking a hub's whole history.
DROP INDEX edge_source_then;
CREATE INDEX edge_triple_then ON edge (space, source_id, relation, target_id, record_from);
CREATE INDEX edge_replaces_then ON edge (space, target_id, record_from) WHERE replaces = 1;
CREATE INDEX edge_replacing_then ON edge (space, source_id, record_from) WHERE replaces = 1;
CREATE INDEX edge_governed_then ON edge (space, source_id, record_from) WHERE governed = 1;
CREATE INDEX edge_constitutive_source_then ON edge (space, source_id, record_from)
  WHERE edge_type = 2;
CREATE INDEX edge_constitutive_target_then ON edge (space, target_id, record_from)
  WHERE edge_type = 2;
CREATE INDEX memory_external_then ON memory (space, external_id, record_from)
  WHERE external_id IS NOT NULL;
CREATE INDEX memory_newest_then ON memory (space, create_time, id);
