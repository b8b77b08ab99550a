-- Under which grant of both parties all up to a change came from elsewhere, for the audit of this place.
CREATE TABLE imported (space INTEGER PRIMARY KEY, seq INTEGER NOT NULL, restore BLOB NOT NULL) STRICT;
CREATE TRIGGER imported_kept BEFORE DELETE ON imported
BEGIN SELECT RAISE(ABORT, 'kept'); END;
CREATE TRIGGER imported_written_once BEFORE UPDATE ON imported
BEGIN SELECT RAISE(ABORT, 'written once'); END;
