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
