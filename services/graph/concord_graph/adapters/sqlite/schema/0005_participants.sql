-- Which edges have, or ever had, a participant by its name (spec G11): where edges are looked for by
-- one. What an edge's revision says is tested on its own row.
CREATE TABLE participant (
  space INTEGER NOT NULL,
  name TEXT NOT NULL,
  edge TEXT NOT NULL,
  PRIMARY KEY (space, name, edge)
) STRICT, WITHOUT ROWID;

INSERT OR IGNORE INTO participant SELECT e.space, p.value, e.id
  FROM edge e, json_each(e.properties, '$.participants') p WHERE p.type = 'text';
