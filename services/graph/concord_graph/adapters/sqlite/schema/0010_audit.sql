-- Whether both parties must agree to such a change: what governance's audit log takes from the outbox.
-- Rows of before this step say no: no audit log read them.
ALTER TABLE change ADD COLUMN needs_consent INTEGER NOT NULL DEFAULT 0;
-- JSON of the digests of an edge's ends, by id, when the item is constitutive afterwards; else empty.
ALTER TABLE change ADD COLUMN ends TEXT NOT NULL DEFAULT '';
