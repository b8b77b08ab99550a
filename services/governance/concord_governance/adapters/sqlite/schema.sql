-- Times are integer microseconds UTC. The log (leaf, tree) and recorded nonces are append-only.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

-- `feed_*`: the last change of graph's feed that was applied; `feed_mark` distinguishes it from any
-- other of its number. `key_changes`: executed changes of the principals' keys.
CREATE TABLE space (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  last_number INTEGER NOT NULL DEFAULT 0,
  log_size INTEGER NOT NULL DEFAULT 0,
  last_time INTEGER NOT NULL DEFAULT 0,
  feed_epoch TEXT NOT NULL DEFAULT '',
  feed_seq INTEGER NOT NULL DEFAULT 0,
  feed_mark TEXT NOT NULL DEFAULT '',
  key_changes INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Up to which change of each partition of graph's feed all was applied; it may lag.
CREATE TABLE feed_partition (
  partition INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  mark TEXT NOT NULL
) STRICT;

-- `effects` and `orphaned` are JSON; `orphaned`: ids of the lineage that an undo left without an end.
CREATE TABLE proposal (
  space INTEGER NOT NULL,
  id TEXT NOT NULL,
  number INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  version INTEGER NOT NULL,
  status INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  expire_time INTEGER NOT NULL,
  resolve_time INTEGER,
  resolved_by TEXT NOT NULL,
  resolution TEXT NOT NULL,
  undone_by TEXT NOT NULL,
  undo_until INTEGER,
  decision_id TEXT NOT NULL,
  decision_time INTEGER NOT NULL,
  decision_grant BLOB NOT NULL,
  effects TEXT NOT NULL,
  orphaned TEXT NOT NULL,
  PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX proposal_number ON proposal (space, number);
CREATE INDEX proposal_open ON proposal (space, expire_time) WHERE status IN (1, 2);
CREATE INDEX proposal_decided ON proposal (space, number) WHERE status = 3;

-- `document` is the revision without its words, `canonical` all of it until it is erased.
CREATE TABLE revision (
  space INTEGER NOT NULL,
  proposal_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  digest TEXT NOT NULL,
  document TEXT NOT NULL,
  canonical BLOB NOT NULL,
  PRIMARY KEY (space, proposal_id, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE affected (
  space INTEGER NOT NULL,
  item_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (space, item_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE consent (
  space INTEGER NOT NULL,
  proposal_id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  slot TEXT NOT NULL,
  principal TEXT NOT NULL,
  nonce TEXT NOT NULL,
  receive_time INTEGER NOT NULL,
  expire_time INTEGER NOT NULL,
  envelope BLOB NOT NULL,
  revoked INTEGER NOT NULL,
  PRIMARY KEY (space, proposal_id, revision, slot, nonce)
) STRICT, WITHOUT ROWID;

CREATE TABLE nonce (
  space INTEGER NOT NULL,
  nonce TEXT NOT NULL,
  PRIMARY KEY (space, nonce)
) STRICT, WITHOUT ROWID;

-- Erased memories whose erasure was not confirmed to graph yet.
CREATE TABLE unconfirmed (
  space INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  PRIMARY KEY (space, memory_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE request (
  space INTEGER NOT NULL,
  principal TEXT NOT NULL,
  method TEXT NOT NULL,
  request_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  proposal_ids TEXT NOT NULL,
  create_time INTEGER NOT NULL,
  PRIMARY KEY (space, principal, method, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_age ON request (create_time);

-- `happen_time`: graph's record time of an event that graph recorded, else `time`.
CREATE TABLE leaf (
  space INTEGER NOT NULL,
  place INTEGER NOT NULL,
  time INTEGER NOT NULL,
  happen_time INTEGER NOT NULL,
  action INTEGER NOT NULL,
  actor INTEGER NOT NULL,
  item_id TEXT NOT NULL,
  proposal_id TEXT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (space, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX leaf_item ON leaf (space, item_id, place) WHERE item_id <> '';
CREATE INDEX leaf_proposal ON leaf (space, proposal_id, place);

CREATE TABLE tree (
  space INTEGER NOT NULL,
  level INTEGER NOT NULL,
  place INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (space, level, place)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER leaf_kept BEFORE DELETE ON leaf BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER leaf_written_once BEFORE UPDATE ON leaf BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER tree_kept BEFORE DELETE ON tree BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER tree_written_once BEFORE UPDATE ON tree BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER nonce_kept BEFORE DELETE ON nonce BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER nonce_written_once BEFORE UPDATE ON nonce
BEGIN SELECT RAISE(ABORT, 'append-only'); END;

-- Spaces as operators know them, and API keys: their digests alone, and for ever.

CREATE TABLE access_space (
  name TEXT PRIMARY KEY,
  create_time INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  delete_time INTEGER,
  statement BLOB NOT NULL,
  erased INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE access_key (
  digest TEXT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  space TEXT NOT NULL,
  principal TEXT NOT NULL,
  kind INTEGER NOT NULL,
  scopes TEXT NOT NULL,
  origin INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expire_time INTEGER,
  revoke_time INTEGER,
  last_use_time INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX access_key_space ON access_key (space, create_time, id);

-- One-time codes and sessions, by the SHA-256 of their secrets, until they end.
CREATE TABLE access_sign_in (
  digest TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  is_session INTEGER NOT NULL,
  create_time INTEGER NOT NULL,
  expire_time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX access_sign_in_key ON access_sign_in (key_id, create_time);
CREATE INDEX access_sign_in_end ON access_sign_in (expire_time);

CREATE TRIGGER access_space_kept BEFORE DELETE ON access_space
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER access_key_kept BEFORE DELETE ON access_key
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
