-- From schema 7 to 9: keys and spaces are kept here, refused attempts no longer.

ALTER TABLE space DROP COLUMN tally;

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

CREATE TRIGGER access_space_kept BEFORE DELETE ON access_space
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
CREATE TRIGGER access_key_kept BEFORE DELETE ON access_key
BEGIN SELECT RAISE(ABORT, 'append-only'); END;
