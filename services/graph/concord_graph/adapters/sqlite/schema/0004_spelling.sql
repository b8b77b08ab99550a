-- Names of live things, where names that are spelt alike are looked for (spec G13): sorted folded,
-- and sorted from their ends. A row per name of a node (kind 1), own id of a memory (2), importer's
-- key (3) and session with episodes (4); `item` is the id it belongs to, or the session itself.
CREATE TABLE spelling (
  space INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  item TEXT NOT NULL,
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  backwards TEXT NOT NULL,
  PRIMARY KEY (space, kind, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX spelling_folded ON spelling (space, kind, folded, name);
CREATE INDEX spelling_backwards ON spelling (space, kind, backwards, name);

INSERT INTO spelling SELECT space, 1, id, name, folded(name), backwards(name) FROM node
  WHERE record_until = 9223372036854775807 AND deleted = 0;
INSERT INTO spelling SELECT space, 2, id, id, folded(id), backwards(id) FROM memory
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND id_stated = 1;
INSERT INTO spelling SELECT space, 3, id, external_id, folded(external_id), backwards(external_id)
  FROM memory
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND external_id IS NOT NULL;
INSERT INTO spelling SELECT DISTINCT space, 4, session_id, session_id, folded(session_id),
  backwards(session_id) FROM entry
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND kind = 5 AND session_id <> '';
