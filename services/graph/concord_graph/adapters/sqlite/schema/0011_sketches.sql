-- Where near-identical memories are looked for (spec T6): a row of `sketch` per band of a live memory
-- that has one. The bands are keyed by the space's secret, and go with what the memory says.
CREATE TABLE sketch_key (space INTEGER PRIMARY KEY, key BLOB NOT NULL) STRICT;

CREATE TABLE sketched (
  number INTEGER PRIMARY KEY,
  space INTEGER NOT NULL,
  memory TEXT NOT NULL,
  bands BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX sketched_memory ON sketched (space, memory);

CREATE TABLE sketch (
  space INTEGER NOT NULL,
  band INTEGER NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (space, band, number)
) STRICT, WITHOUT ROWID;

INSERT INTO sketch_key SELECT id, randomblob(32) FROM space;
INSERT INTO sketched (space, memory, bands)
  SELECT * FROM (
    SELECT m.space, m.id, sketched(k.key, m.memory_kind, m.content) AS bands FROM memory m
    JOIN sketch_key k ON k.space = m.space
    WHERE m.record_until = 9223372036854775807 AND m.deleted = 0 AND m.memory_kind <> 7
  ) WHERE bands IS NOT NULL;
INSERT INTO sketch
  SELECT DISTINCT s.space, band(s.bands, p.value) AS b, s.number
  FROM sketched s, json_each('[0, 1, 2, 3, 4, 5, 6, 7]') p ORDER BY s.space, b;
