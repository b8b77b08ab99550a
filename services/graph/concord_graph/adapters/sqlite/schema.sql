-- Every table but `access` is append-only but for closing `record_until`.
-- Times are integer microseconds UTC; 9223372036854775807 = for ever.
-- A row of node, edge or memory is one revision; deleted = 1 is a tombstone.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE space (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  seq INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  enrolment TEXT NOT NULL DEFAULT '', -- hex SHA-256 of the one-time secret that a genesis takes
  deleted INTEGER NOT NULL DEFAULT 0, -- 1: for good; its rows alone may be removed
  unsettled INTEGER NOT NULL DEFAULT 0, -- from which change on `standing` lacks rows; 0: none are missing
  partition INTEGER NOT NULL DEFAULT -1 -- -1: written before there were any, until the store is opened
) STRICT;
CREATE INDEX space_partition ON space (partition, name);

-- The feed's partitions (spec S10), made with the store: the number of each one's newest change.
CREATE TABLE partition (id INTEGER PRIMARY KEY, number INTEGER NOT NULL) STRICT;

-- The changes of each partition by number: a row per commit, which has `count` changes of a space, up
-- to the change `seq`, whose number is `number`.
CREATE TABLE feed (
  partition INTEGER NOT NULL,
  number INTEGER NOT NULL,
  space INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (partition, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE node (
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
  label TEXT NOT NULL,
  properties TEXT NOT NULL,
  vector_id TEXT NOT NULL,
  of_facts INTEGER NOT NULL DEFAULT 0, -- 1 until a caller writes the node: it goes with the last fact
  erase_time INTEGER NOT NULL DEFAULT 0 -- when what it said was erased, in every revision; 0 = never
) STRICT;
CREATE UNIQUE INDEX node_revision ON node (space, id, revision);
CREATE UNIQUE INDEX node_current ON node (space, id) WHERE record_until = 9223372036854775807;
CREATE UNIQUE INDEX node_name ON node (space, name)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX node_name_then ON node (space, name, record_from);

CREATE TABLE edge (
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
  source_id TEXT NOT NULL,
  source_kind INTEGER NOT NULL,
  relation TEXT NOT NULL,
  target_id TEXT NOT NULL,
  target_kind INTEGER NOT NULL,
  weight REAL NOT NULL,
  properties TEXT NOT NULL,
  edge_type INTEGER NOT NULL,
  importance INTEGER NOT NULL,
  valid_from INTEGER,
  valid_until INTEGER,
  effective_from INTEGER NOT NULL,
  origin INTEGER NOT NULL,
  governed INTEGER NOT NULL,
  hides INTEGER NOT NULL, -- 1: SUPERSEDES, DEPRECATES or AMENDS
  erase_time INTEGER NOT NULL DEFAULT 0, -- as in node
  claimed INTEGER NOT NULL DEFAULT 0 -- 1: it makes nothing give way until a claim is accepted (spec W9)
) STRICT;
CREATE UNIQUE INDEX edge_revision ON edge (space, id, revision);
CREATE UNIQUE INDEX edge_current ON edge (space, id) WHERE record_until = 9223372036854775807;
CREATE UNIQUE INDEX edge_triple ON edge (space, source_id, relation, target_id, effective_from)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX edge_target ON edge (space, target_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX edge_target_then ON edge (space, target_id, record_from);
CREATE INDEX edge_constitutive_source ON edge (space, source_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND edge_type = 2;
CREATE INDEX edge_constitutive_target ON edge (space, target_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND edge_type = 2;
CREATE INDEX edge_governed ON edge (space, source_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND governed = 1;
CREATE INDEX edge_content ON edge (space, source_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND origin = 2;
-- The edges of one source and relation by time, whatever their targets. Only a statement that says
-- seq > 0, which all rows have, is answered from here: the planner would take it for others, and for
-- lineage read every SUPERSEDES that there is.
CREATE INDEX edge_succession ON edge (space, relation, source_id, effective_from) WHERE seq > 0;
CREATE INDEX edge_triple_then ON edge (space, source_id, relation, target_id, record_from);
CREATE INDEX edge_governed_then ON edge (space, source_id, record_from) WHERE governed = 1;
CREATE INDEX edge_constitutive_source_then ON edge (space, source_id, record_from)
  WHERE edge_type = 2;
CREATE INDEX edge_constitutive_target_then ON edge (space, target_id, record_from)
  WHERE edge_type = 2;
-- What amends an item is looked for wherever the item is read (spec T4), and most have nothing.
CREATE INDEX edge_amends ON edge (space, target_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND relation = 'AMENDS';

CREATE TABLE memory (
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
  id_stated INTEGER NOT NULL,
  content TEXT NOT NULL,
  content_digest TEXT NOT NULL,
  memory_kind INTEGER NOT NULL,
  concepts TEXT NOT NULL,
  concepts_stated INTEGER NOT NULL,
  domain TEXT NOT NULL,
  importance INTEGER NOT NULL,
  surfaces_when TEXT NOT NULL,
  sources TEXT NOT NULL,
  external_id TEXT,
  category TEXT NOT NULL,
  tags TEXT NOT NULL,
  session_id TEXT NOT NULL,
  edge_type INTEGER NOT NULL,
  valid_from INTEGER,
  valid_until INTEGER,
  effective_from INTEGER NOT NULL,
  turn_order INTEGER NOT NULL DEFAULT 0, -- place in its session's dialogue, from 1; 0 = none
  erase_time INTEGER NOT NULL DEFAULT 0, -- as in node
  facts TEXT NOT NULL DEFAULT '[]', -- the triples as they were stated; `support` has their edges
  properties TEXT NOT NULL DEFAULT '{}', -- a caller's JSON object
  role INTEGER NOT NULL DEFAULT 0, -- in what role a turn was said; 0 = unset
  origin INTEGER NOT NULL DEFAULT 0, -- who wrote it down, by the key; 0 = unspecified
  words_origin INTEGER NOT NULL DEFAULT 0 -- the lowest of those whose words stand; 0 = origin
) STRICT;
CREATE UNIQUE INDEX memory_revision ON memory (space, id, revision);
CREATE UNIQUE INDEX memory_current ON memory (space, id) WHERE record_until = 9223372036854775807;
CREATE UNIQUE INDEX memory_external ON memory (space, external_id)
  WHERE record_until = 9223372036854775807 AND external_id IS NOT NULL;
CREATE INDEX memory_says ON memory (space, content_digest)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX memory_newest ON memory (space, create_time, id)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE UNIQUE INDEX memory_turn ON memory (space, session_id, turn_order)
  WHERE record_until = 9223372036854775807 AND memory_kind = 7 AND turn_order > 0;
CREATE INDEX memory_turns ON memory (space, session_id, turn_order, create_time, id)
  WHERE memory_kind = 7;
CREATE INDEX memory_external_then ON memory (space, external_id, record_from)
  WHERE external_id IS NOT NULL;
CREATE INDEX memory_newest_then ON memory (space, create_time, id);
-- What surfaces by itself is looked for among the few that have a trigger (spec S9).
CREATE INDEX memory_triggered ON memory (space, id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND surfaces_when <> '[]';
-- Who derives from a memory is looked for among the few that derive from any (spec D12).
CREATE INDEX memory_derived ON memory (space, id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND instr(sources, '"memory_ids":["') > 0;
-- What the requests did that wrote a session's memories and entries is found by when they did (spec W9).
CREATE INDEX memory_session ON memory (space, session_id, record_from)
  WHERE revision = 1 AND session_id <> '';

CREATE TABLE access (
  space INTEGER NOT NULL,
  id TEXT NOT NULL,
  last_time INTEGER NOT NULL,
  count INTEGER NOT NULL,
  unannounced INTEGER NOT NULL,
  PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX access_unannounced ON access (space) WHERE unannounced = 1;

CREATE TABLE change (
  space INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  record_time INTEGER NOT NULL,
  item_id TEXT NOT NULL,
  item_kind INTEGER NOT NULL,
  type INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  digest TEXT NOT NULL,
  before_digest TEXT NOT NULL,
  principal TEXT NOT NULL,
  method TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  needs_consent INTEGER NOT NULL DEFAULT 0, -- 1: both principals must agree to it
  ends TEXT NOT NULL DEFAULT '', -- JSON: digests of a constitutive edge's ends, by id; else empty
  actor TEXT NOT NULL DEFAULT '', -- AGENT, HUMAN or SYSTEM; empty when imported
  paper TEXT NOT NULL DEFAULT '', -- the envelope that revokes a consent; empty for other changes
  PRIMARY KEY (space, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX change_item ON change (space, item_id, seq);
-- What a principal did since a time is listed, and undone (spec W9).
CREATE INDEX change_principal ON change (space, principal, seq);
-- A read is a change, too, and leaves the item's state as it is: a much-read item has thousands of them.
CREATE INDEX change_state ON change (space, item_id, seq) WHERE type NOT IN (6, 7, 9, 12);

CREATE TABLE request (
  space INTEGER NOT NULL,
  principal TEXT NOT NULL,
  method TEXT NOT NULL,
  request_id TEXT NOT NULL,
  salt BLOB NOT NULL,
  digest TEXT NOT NULL,
  refs TEXT NOT NULL,
  seq INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  PRIMARY KEY (space, principal, method, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_age ON request (create_time);

CREATE TABLE nonce (
  space INTEGER NOT NULL,
  nonce TEXT NOT NULL,
  PRIMARY KEY (space, nonce)
) STRICT, WITHOUT ROWID;

CREATE TABLE genesis (space INTEGER PRIMARY KEY, envelope BLOB NOT NULL, digest TEXT NOT NULL) STRICT;

-- Holds a row only inside a transaction that a grant let through.
CREATE TABLE open_grant (
  space INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  principals INTEGER NOT NULL DEFAULT 0 -- 1: what stands for the principals may be written
) STRICT;

-- A row is one revision, as of an item. kind: 5 episode, 6 working memory, 8 conflict (spec D5),
-- 9 claim (spec W9).
CREATE TABLE entry (
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
  kind INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  shelf TEXT NOT NULL,
  rank INTEGER NOT NULL,
  body TEXT NOT NULL,
  words TEXT NOT NULL DEFAULT '{}', -- what of a conflict or claim is erased with a side of it
  erase_time INTEGER NOT NULL DEFAULT 0, -- as in node
  first_id TEXT AS (body ->> '$.first.id'), -- a conflict's sides; a claim's item, and what would take its place
  second_id TEXT AS (body ->> '$.second.id')
) STRICT;
CREATE UNIQUE INDEX entry_revision ON entry (space, id, revision);
CREATE UNIQUE INDEX entry_current ON entry (space, id) WHERE record_until = 9223372036854775807;
CREATE INDEX entry_listed ON entry (space, kind, shelf, rank, record_from)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX entry_of_session ON entry (space, kind, shelf, session_id, rank, record_from)
  WHERE record_until = 9223372036854775807 AND deleted = 0;
CREATE INDEX entry_session ON entry (space, session_id, record_from)
  WHERE revision = 1 AND session_id <> '';
CREATE INDEX entry_then ON entry (space, kind, record_from);
CREATE UNIQUE INDEX conflict_pair ON entry (space, first_id, second_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND kind = 8;
CREATE INDEX conflict_second ON entry (space, second_id)
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND kind = 8;
CREATE INDEX conflict_first_then ON entry (space, first_id, second_id) WHERE kind = 8;
CREATE INDEX conflict_second_then ON entry (space, second_id) WHERE kind = 8;
CREATE INDEX claim_first ON entry (space, first_id, rank) WHERE kind = 9;
CREATE INDEX claim_second ON entry (space, second_id, rank) WHERE kind = 9;

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

-- Which edges have, or ever had, a participant by its name (spec G11): where edges are looked for by
-- one. What an edge's revision says is tested on its own row.
CREATE TABLE participant (
  space INTEGER NOT NULL,
  name TEXT NOT NULL,
  edge TEXT NOT NULL,
  PRIMARY KEY (space, name, edge)
) STRICT, WITHOUT ROWID;

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
  functional INTEGER NOT NULL,
  temporal_class INTEGER NOT NULL DEFAULT 0,
  transitive INTEGER NOT NULL DEFAULT 0,
  exclusive_sets TEXT NOT NULL DEFAULT '[]' -- JSON: lists of names
) STRICT;
CREATE UNIQUE INDEX relation_revision ON relation (space, id, revision);
CREATE UNIQUE INDEX relation_current ON relation (space, name)
  WHERE record_until = 9223372036854775807;

-- A session's record (spec M7), times in µs: its first use since it last began, its last one, and when
-- it ended; 0 = it goes on.
CREATE TABLE session (
  space INTEGER NOT NULL,
  id TEXT NOT NULL,
  start_time INTEGER NOT NULL,
  last_use_time INTEGER NOT NULL,
  end_time INTEGER NOT NULL,
  PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_used ON session (space, last_use_time);

-- Which memories a session read, and when last: those read last, erased with their memory.
CREATE TABLE co_read (
  space INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (space, session_id, memory_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX co_read_memory ON co_read (space, memory_id);
CREATE INDEX co_read_time ON co_read (space, time);

-- Which sessions stated a memory that was there already, and when first (spec V10).
CREATE TABLE restatement (
  space INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (space, memory_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX restatement_session ON restatement (space, session_id);

-- What other services keep here of a space: one of each kind, as JSON, never words of a memory.
CREATE TABLE service_record (
  space INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (space, kind)
) STRICT, WITHOUT ROWID;

-- Which memories an answer of search returned, to whom, where a space keeps that (spec W8): ids alone.
CREATE TABLE recall (
  space INTEGER NOT NULL,
  query_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  principal TEXT NOT NULL,
  session_id TEXT NOT NULL,
  time INTEGER NOT NULL,
  PRIMARY KEY (space, query_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX recall_memory ON recall (space, memory_id);

-- Who of a service's replicas does a work in a space (design section 1). The space need not exist.
CREATE TABLE lease (
  space TEXT NOT NULL,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  holder TEXT NOT NULL,
  number INTEGER NOT NULL, -- only grows
  until INTEGER NOT NULL,
  PRIMARY KEY (space, owner, name)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE erase_confirmation (
  space INTEGER NOT NULL,
  erase_id TEXT NOT NULL,
  place INTEGER NOT NULL, -- in the order of the configuration
  confirmer TEXT NOT NULL,
  time INTEGER, -- NULL until it confirmed
  PRIMARY KEY (space, erase_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX erase_unconfirmed ON erase_confirmation (confirmer) WHERE time IS NULL;

-- Imports that were refused while nothing was recorded in their space: they go on record with its
-- first write, and until then leave it unused, so that a better import may follow.
CREATE TABLE early_refusal (
  space INTEGER NOT NULL,
  time INTEGER NOT NULL,
  principal TEXT NOT NULL,
  method TEXT NOT NULL,
  request_id TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX early_refusal_space ON early_refusal (space);

CREATE TABLE support (
  space INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  place INTEGER NOT NULL, -- of the fact among the memory's facts, from 0
  edge_id TEXT NOT NULL,
  record_from INTEGER NOT NULL,
  record_until INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX support_of_memory ON support (space, memory_id, place)
  WHERE record_until = 9223372036854775807;
CREATE INDEX support_of_edge ON support (space, edge_id, memory_id)
  WHERE record_until = 9223372036854775807;
CREATE INDEX support_of_memory_then ON support (space, memory_id, record_from);
CREATE INDEX support_of_edge_then ON support (space, edge_id, record_from);
-- A full export tells which edges a memory's facts are where it tells of the change by which they became so:
-- it asks for what was opened or closed in a stretch of record time (spec G15, M1).
CREATE INDEX support_opened ON support (space, record_from, memory_id, place);
CREATE INDEX support_closed ON support (space, record_until, memory_id)
  WHERE record_until <> 9223372036854775807;

-- How an edge or memory stands among what supersedes it (spec T2): worked out at the write by
-- `domain.succession`, from `record_from` on. Most items have no row: nothing supersedes them, they
-- supersede nothing, and no consent depends on them.
CREATE TABLE standing (
  space INTEGER NOT NULL,
  id TEXT NOT NULL,
  record_from INTEGER NOT NULL,
  record_until INTEGER NOT NULL,
  superseded_from INTEGER NOT NULL, -- the earliest of the next two
  followed_from INTEGER NOT NULL, -- when the next values of its row begin; a memory's last fact ends
  replacers TEXT NOT NULL, -- JSON: (id, when it begins) of what replaces it by lineage
  never_held INTEGER NOT NULL, -- 1: an earlier value of its row replaced it
  is_fixed INTEGER NOT NULL, -- 1: it gives way to what both principals agreed to alone
  comes_next INTEGER NOT NULL, -- 1: right after another value of its row
  former INTEGER NOT NULL, -- values that give way to it, or to its facts
  older INTEGER NOT NULL, -- other items that it replaces by lineage
  exit_of TEXT, -- the source of the row that a walk to the heads may leave here
  PRIMARY KEY (space, id, record_from)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX standing_current ON standing (space, id)
  WHERE record_until = 9223372036854775807;
CREATE INDEX standing_exit ON standing (space, exit_of) WHERE exit_of IS NOT NULL;

-- Under which grant of both principals all up to a change came from elsewhere, for the audit of this place.
CREATE TABLE imported (space INTEGER PRIMARY KEY, seq INTEGER NOT NULL, restore BLOB NOT NULL) STRICT;

-- The store's own protection (spec G4): the same promise as the use cases', kept once more here.
-- A new revision is judged by the newest one before it, whatever number it gives itself.
-- What both principals agreed to rests on these items: ends of constitutive edges, the newer sides of
-- lineage that was made with consent, and the ends of such newer sides that are edges.
CREATE VIEW held (space, id) AS
  SELECT space, source_id FROM edge
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND edge_type = 2
  UNION ALL SELECT space, target_id FROM edge
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND edge_type = 2
  UNION ALL SELECT space, source_id FROM edge
  WHERE record_until = 9223372036854775807 AND deleted = 0 AND governed = 1
  UNION ALL SELECT n.space, n.source_id FROM edge n
  JOIN edge l ON l.space = n.space AND l.source_id = n.id
  WHERE n.record_until = 9223372036854775807 AND n.deleted = 0
    AND l.record_until = 9223372036854775807 AND l.deleted = 0 AND l.governed = 1
  UNION ALL SELECT n.space, n.target_id FROM edge n
  JOIN edge l ON l.space = n.space AND l.source_id = n.id
  WHERE n.record_until = 9223372036854775807 AND n.deleted = 0
    AND l.record_until = 9223372036854775807 AND l.deleted = 0 AND l.governed = 1;

CREATE TRIGGER space_deleted_for_good BEFORE UPDATE OF deleted ON space
WHEN OLD.deleted <> 0 OR (EXISTS (SELECT 1 FROM genesis g WHERE g.space = OLD.id)
  AND NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = OLD.id))
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;

CREATE TRIGGER node_protected_insert BEFORE INSERT ON node
WHEN NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space)
  AND EXISTS (SELECT 1 FROM held h WHERE h.space = NEW.space AND h.id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;
CREATE TRIGGER node_protected_close BEFORE UPDATE OF record_until ON node
WHEN NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = OLD.space)
  AND EXISTS (SELECT 1 FROM held h WHERE h.space = OLD.space AND h.id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;
CREATE TRIGGER node_erased_for_good BEFORE INSERT ON node
WHEN (SELECT p.erase_time FROM node p WHERE p.space = NEW.space AND p.id = NEW.id
      ORDER BY p.revision DESC LIMIT 1) <> 0
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
-- History is written once: a revision row may only be closed, never rewritten or removed.
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
CREATE TRIGGER node_reserved_insert BEFORE INSERT ON node
WHEN EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space AND g.principals = 0) AND (
  NEW.name LIKE 'concord:%'
  OR EXISTS (SELECT 1 FROM node n WHERE n.space = NEW.space AND n.id = NEW.id
             AND n.name LIKE 'concord:%')
) BEGIN SELECT RAISE(ABORT, 'reserved'); END;
CREATE TRIGGER node_kept BEFORE DELETE ON node
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- A revision is closed by its successor alone, so these also keep rows from being closed and left.
CREATE TRIGGER edge_protected_close BEFORE UPDATE OF record_until ON edge
WHEN NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = OLD.space) AND (
  (OLD.deleted = 0 AND (OLD.edge_type = 2 OR OLD.governed = 1))
  OR EXISTS (SELECT 1 FROM held h WHERE h.space = OLD.space AND h.id = OLD.id))
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;
CREATE TRIGGER edge_erased_for_good BEFORE INSERT ON edge
WHEN (SELECT p.erase_time FROM edge p WHERE p.space = NEW.space AND p.id = NEW.id
      ORDER BY p.revision DESC LIMIT 1) <> 0
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER edge_protected_erase BEFORE INSERT ON edge
WHEN NEW.erase_time <> 0 AND NEW.edge_type = 2
  AND NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space)
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;
CREATE TRIGGER edge_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, source_id, source_kind, relation, target_id, target_kind, weight,
  properties, edge_type, importance, valid_from, valid_until, effective_from, origin, governed,
  hides, erase_time, claimed ON edge
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
  AND NEW.governed = OLD.governed AND NEW.hides = OLD.hides AND NEW.claimed = OLD.claimed
)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER edge_reserved_insert BEFORE INSERT ON edge
WHEN EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space AND g.principals = 0) AND (
  NEW.relation LIKE 'concord:%'
  OR EXISTS (SELECT 1 FROM node n WHERE n.space = NEW.space
             AND n.id IN (NEW.source_id, NEW.target_id) AND n.name LIKE 'concord:%')
  OR EXISTS (SELECT 1 FROM edge e WHERE e.space = NEW.space
             AND e.id IN (NEW.source_id, NEW.target_id) AND e.relation LIKE 'concord:%')
) BEGIN SELECT RAISE(ABORT, 'reserved'); END;
CREATE TRIGGER edge_kept BEFORE DELETE ON edge
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
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

CREATE TRIGGER memory_protected_insert BEFORE INSERT ON memory
WHEN NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space) AND (
  (NEW.edge_type = 2 AND NEW.deleted = 0)
  OR EXISTS (SELECT 1 FROM (SELECT p.deleted, p.edge_type FROM memory p
             WHERE p.space = NEW.space AND p.id = NEW.id ORDER BY p.revision DESC LIMIT 1) p
             WHERE p.deleted = 0 AND p.edge_type = 2)
  OR EXISTS (SELECT 1 FROM held h WHERE h.space = NEW.space AND h.id = NEW.id)
) BEGIN SELECT RAISE(ABORT, 'constitutive'); END;
CREATE TRIGGER memory_protected_close BEFORE UPDATE OF record_until ON memory
WHEN NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = OLD.space) AND (
  (OLD.deleted = 0 AND OLD.edge_type = 2)
  OR EXISTS (SELECT 1 FROM held h WHERE h.space = OLD.space AND h.id = OLD.id))
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;
-- Nothing comes after an erased revision.
CREATE TRIGGER memory_erased_for_good BEFORE INSERT ON memory
WHEN (SELECT p.erase_time FROM memory p WHERE p.space = NEW.space AND p.id = NEW.id
      ORDER BY p.revision DESC LIMIT 1) <> 0
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
-- The history of what defines the agent goes with both principals' consent only, also when forgotten.
CREATE TRIGGER memory_protected_erase BEFORE INSERT ON memory
WHEN NEW.erase_time <> 0 AND NEW.edge_type = 2
  AND NOT EXISTS (SELECT 1 FROM open_grant g WHERE g.space = NEW.space)
BEGIN SELECT RAISE(ABORT, 'constitutive'); END;
CREATE TRIGGER memory_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, id_stated, content, content_digest, memory_kind, concepts,
  concepts_stated, domain, importance, surfaces_when, sources, external_id, category, tags,
  session_id, edge_type, valid_from, valid_until, effective_from, turn_order, erase_time,
  facts, properties, role, origin, words_origin ON memory
WHEN NOT (
  OLD.erase_time = 0
  AND EXISTS (SELECT 1 FROM memory n WHERE n.space = OLD.space AND n.id = OLD.id
              AND n.record_until = 9223372036854775807 AND n.erase_time <> 0
              AND n.erase_time = NEW.erase_time)
  AND NEW.salt = x'' AND NEW.content = '' AND NEW.content_digest = '' AND NEW.concepts = '[]'
  AND NEW.concepts_stated = 0 AND NEW.domain = '' AND NEW.importance = 0
  AND NEW.surfaces_when = '[]' AND NEW.sources = '[]' AND NEW.external_id IS NULL
  AND NEW.category = '' AND NEW.tags = '[]' AND NEW.facts = '[]' AND NEW.properties = '{}'
  AND NEW.role = 0
  AND NEW.space = OLD.space AND NEW.id = OLD.id AND NEW.revision = OLD.revision
  AND NEW.seq = OLD.seq AND NEW.record_from = OLD.record_from AND NEW.deleted = OLD.deleted
  AND NEW.principal = OLD.principal AND NEW.create_time = OLD.create_time
  AND NEW.id_stated = OLD.id_stated AND NEW.memory_kind = OLD.memory_kind
  AND NEW.edge_type = OLD.edge_type AND NEW.valid_from IS OLD.valid_from
  AND NEW.valid_until IS OLD.valid_until AND NEW.effective_from = OLD.effective_from
  AND NEW.session_id = OLD.session_id AND NEW.turn_order = OLD.turn_order
  AND NEW.origin = OLD.origin AND NEW.words_origin = OLD.words_origin
)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER memory_kept BEFORE DELETE ON memory
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TRIGGER change_kept BEFORE DELETE ON change BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER change_written_once BEFORE UPDATE ON change
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TRIGGER nonce_kept BEFORE DELETE ON nonce
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER nonce_written_once BEFORE UPDATE ON nonce
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- Genesis and burnt nonces stay as they are.
CREATE TRIGGER genesis_kept BEFORE DELETE ON genesis
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER genesis_written_once BEFORE UPDATE ON genesis
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TRIGGER entry_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, kind, session_id, shelf, rank, body, words, erase_time ON entry
WHEN NOT (
  OLD.erase_time = 0
  AND EXISTS (SELECT 1 FROM entry n WHERE n.space = OLD.space AND n.id = OLD.id
              AND n.record_until = 9223372036854775807 AND n.erase_time <> 0
              AND n.erase_time = NEW.erase_time)
  AND NEW.salt = x'' AND NEW.words = '{}'
  AND NEW.space = OLD.space AND NEW.id = OLD.id AND NEW.revision = OLD.revision
  AND NEW.seq = OLD.seq AND NEW.record_from = OLD.record_from AND NEW.deleted = OLD.deleted
  AND NEW.principal = OLD.principal AND NEW.create_time = OLD.create_time
  AND NEW.kind = OLD.kind AND NEW.session_id = OLD.session_id AND NEW.shelf = OLD.shelf
  AND NEW.rank = OLD.rank
  AND (NEW.body = OLD.body OR OLD.kind <> 8) -- a conflict's body names its sides
)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER entry_kept BEFORE DELETE ON entry
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TRIGGER relation_written_once BEFORE UPDATE OF space, id, revision, seq, record_from, deleted,
  principal, salt, create_time, name, functional, temporal_class, transitive, exclusive_sets
  ON relation
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER relation_kept BEFORE DELETE ON relation
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TRIGGER erasure_kept BEFORE DELETE ON erasure
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER erasure_written_once BEFORE UPDATE ON erasure
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TRIGGER erase_confirmation_kept BEFORE DELETE ON erase_confirmation
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER erase_confirmed_once BEFORE UPDATE ON erase_confirmation
WHEN OLD.time IS NOT NULL OR NEW.time IS NULL OR NEW.space <> OLD.space
  OR NEW.erase_id <> OLD.erase_id OR NEW.place <> OLD.place OR NEW.confirmer <> OLD.confirmer
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TRIGGER early_refusal_kept BEFORE DELETE ON early_refusal
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER early_refusal_written_once BEFORE UPDATE ON early_refusal
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TRIGGER support_written_once BEFORE UPDATE OF space, memory_id, place, edge_id, record_from
ON support
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER support_kept BEFORE DELETE ON support
WHEN NOT EXISTS (SELECT 1 FROM space s WHERE s.id = OLD.space AND s.deleted = 1)
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

CREATE TRIGGER imported_kept BEFORE DELETE ON imported
BEGIN SELECT RAISE(ABORT, 'kept'); END;
CREATE TRIGGER imported_written_once BEFORE UPDATE ON imported
BEGIN SELECT RAISE(ABORT, 'written once'); END;
